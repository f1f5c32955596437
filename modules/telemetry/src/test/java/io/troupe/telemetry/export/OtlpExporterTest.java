package io.troupe.telemetry.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests to a collector, by OTLP over HTTP in JSON. */
final class OtlpExporterTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<JsonNode> calls = Collections.synchronizedList(new ArrayList<>());
  @AutoClose private LoopbackServer http;
  private String asked = "";
  private int status = 200;
  private String answer = "{}";

  @BeforeEach
  void start() throws IOException {
    http = LoopbackServer.start(this::answer);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      asked =
          "%s %s %s %s"
              .formatted(
                  exchange.getRequestMethod(),
                  exchange.getRequestURI(),
                  exchange.getRequestHeaders().getFirst("Content-Type"),
                  exchange.getRequestHeaders().getFirst("X-Key"));
      calls.add(JSON.readTree(exchange.getRequestBody().readAllBytes()));
      LoopbackServer.answer(exchange, status, answer);
    }
  }

  private static TraceSpan span(int number) {
    return new TraceSpan(
        "00".repeat(16),
        "%016x".formatted(number),
        number == 1 ? "" : "%016x".formatted(1),
        "sampling",
        1_000,
        1_250,
        Map.of("troupe.fence", 9_007_199_254_740_993L),
        number == 1 ? "" : "expired");
  }

  private long send(int spans) throws Exception {
    URI base = URI.create(http.url() + "/");
    try (OtlpExporter collector =
        new OtlpExporter(base, OtlpExporter.headers("X-Key=a%20b"), "r1")) {
      for (int i = 1; i <= spans; i++) {
        collector.add(span(i));
      }
      return collector.finish();
    }
  }

  @Test
  void send_twoSpans_areOtlpInJson() throws Exception {
    assertThat(send(2)).isEqualTo(2);
    assertThat(asked).isEqualTo("POST /v1/traces application/json a b");
    assertThat(calls)
        .containsExactly(
            JSON.readTree(
                """
                {"resourceSpans": [{
                  "resource": {"attributes": [
                    {"key": "service.name", "value": {"stringValue": "troupe"}},
                    {"key": "troupe.run", "value": {"stringValue": "r1"}}]},
                  "scopeSpans": [{"scope": {"name": "io.troupe"}, "spans": [
                    {"traceId": "00000000000000000000000000000000", "spanId": "0000000000000001",
                     "name": "sampling", "kind": 1,
                     "startTimeUnixNano": "1000000000", "endTimeUnixNano": "1250000000",
                     "attributes": [
                       {"key": "troupe.fence", "value": {"intValue": "9007199254740993"}}]},
                    {"traceId": "00000000000000000000000000000000", "spanId": "0000000000000002",
                     "parentSpanId": "0000000000000001", "name": "sampling", "kind": 1,
                     "startTimeUnixNano": "1000000000", "endTimeUnixNano": "1250000000",
                     "attributes": [
                       {"key": "troupe.fence", "value": {"intValue": "9007199254740993"}}],
                     "status": {"code": 2, "message": "expired"}}]}]}]}
                """));
  }

  @Test
  void send_manySpans_goInSeveralCalls() throws Exception {
    assertThat(send(1_025)).isEqualTo(1_025);
    assertThat(calls)
        .extracting(call -> call.at("/resourceSpans/0/scopeSpans/0/spans").size())
        .containsExactly(512, 512, 1);
  }

  @Test
  void send_collectorThatRefuses_isToldWithItsReason() {
    status = 401;
    answer = "who are you?";
    assertThatThrownBy(() -> send(1))
        .hasMessageContaining("status 401 after 0 spans: who are you?");
    status = 200;
    answer = "{\"partialSuccess\": {\"rejectedSpans\": \"1\", \"errorMessage\": \"too old\"}}";
    assertThatThrownBy(() -> send(2)).hasMessageContaining("rejected 1 of 2 spans: too old");
  }

  @Test
  void headers_withoutKey_areRefused() {
    assertThatThrownBy(() -> OtlpExporter.headers("=x"))
        .hasMessageContaining("OTEL_EXPORTER_OTLP_HEADERS is a list key=value");
  }
}
