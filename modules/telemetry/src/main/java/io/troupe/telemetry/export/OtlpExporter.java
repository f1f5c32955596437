package io.troupe.telemetry.export;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.text.SafeText;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A client of an OpenTelemetry collector, or of any other server that takes OTLP over HTTP in its
 * JSON form.
 *
 * @see <a href="https://opentelemetry.io/docs/specs/otlp/#otlphttp">OTLP/HTTP</a>
 */
public final class OtlpExporter implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int SPANS_A_CALL = 512;
  private static final int INTERNAL = 1;
  private static final int ERROR = 2;
  private static final String NANOS = "000000";

  private final URI traces;
  private final Map<String, String> headers;
  private final String run;
  private final List<TraceSpan> waiting = new ArrayList<>();
  private final ExportClient server;
  private long taken;

  /**
   * A collector for the spans of one run.
   *
   * @param base to which {@code /v1/traces} is added
   */
  public OtlpExporter(URI base, Map<String, String> headers, String run) {
    this.traces = URI.create(base.toString().replaceFirst("/+$", "") + "/v1/traces");
    this.headers = headers;
    this.run = run;
    this.server = new ExportClient("the collector", traces, ExportClient.PATIENCE);
  }

  /**
   * The headers that OpenTelemetry's own exporters would send: {@code key=value,key=value}, percent
   * encoded.
   *
   * @throws IllegalArgumentException if it is none of that
   */
  public static Map<String, String> headers(String text) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (String pair : text.isBlank() ? List.<String>of() : List.of(text.split(",", -1))) {
      int at = pair.indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "OTEL_EXPORTER_OTLP_HEADERS is a list key=value,key=value; a part of it has no key");
      }
      headers.put(pair.substring(0, at).strip(), URLDecoder.decode(pair.substring(at + 1), UTF_8));
    }
    return headers;
  }

  /**
   * Sends a span, with those that came before or with those that follow.
   *
   * @throws IOException if the collector refuses; says what it said
   */
  public void add(TraceSpan span) throws IOException, InterruptedException {
    waiting.add(span);
    if (waiting.size() == SPANS_A_CALL) {
      send();
    }
  }

  /** Sends what waits, and returns how many spans were taken in all. */
  public long finish() throws IOException, InterruptedException {
    if (!waiting.isEmpty()) {
      send();
    }
    return taken;
  }

  private void send() throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(traces);
    headers.forEach(request::header);
    HttpResponse<byte[]> response =
        server.send(
            request
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body()))));
    String said = new String(response.body(), UTF_8);
    if (response.statusCode() / 100 != 2) {
      throw new IOException(
          "the collector at %s answered with status %d after %d spans: %s; sending the run again"
                  .formatted(traces, response.statusCode(), taken, SafeText.of(said))
              + " later gives the same ids");
    }
    JsonNode partial =
        said.isBlank() ? JSON.createObjectNode() : JSON.readTree(said).path("partialSuccess");
    long rejected = partial.path("rejectedSpans").asLong(0);
    if (rejected > 0) {
      throw new IOException(
          "the collector at %s rejected %d of %d spans: %s"
              .formatted(
                  traces,
                  rejected,
                  waiting.size(),
                  SafeText.of(partial.path("errorMessage").asText("it does not say why"))));
    }
    taken += waiting.size();
    waiting.clear();
  }

  private ObjectNode body() {
    ObjectNode body = JSON.createObjectNode();
    ObjectNode of = body.putArray("resourceSpans").addObject();
    ArrayNode resource = of.putObject("resource").putArray("attributes");
    attribute(resource, "service.name", "troupe");
    attribute(resource, "troupe.run", run);
    ObjectNode scope = of.putArray("scopeSpans").addObject();
    scope.putObject("scope").put("name", "io.troupe");
    ArrayNode spans = scope.putArray("spans");
    waiting.forEach(span -> fill(spans.addObject(), span));
    return body;
  }

  private static void fill(ObjectNode json, TraceSpan span) {
    json.put("traceId", span.trace()).put("spanId", span.id());
    if (!span.parent().isEmpty()) {
      json.put("parentSpanId", span.parent());
    }
    json.put("name", span.name())
        .put("kind", INTERNAL)
        .put("startTimeUnixNano", span.from() + NANOS)
        .put("endTimeUnixNano", span.until() + NANOS);
    ArrayNode attributes = json.putArray("attributes");
    span.attributes().forEach((key, value) -> attribute(attributes, key, value));
    if (!span.error().isEmpty()) {
      json.putObject("status").put("code", ERROR).put("message", span.error());
    }
  }

  /** Whole numbers are texts in OTLP's JSON, as in all JSON of protobuf. */
  private static void attribute(ArrayNode attributes, String key, Object value) {
    ObjectNode typed = attributes.addObject().put("key", key).putObject("value");
    switch (value) {
      case Long number -> typed.put("intValue", Long.toString(number));
      case Double number -> typed.put("doubleValue", number);
      default -> typed.put("stringValue", value.toString());
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
