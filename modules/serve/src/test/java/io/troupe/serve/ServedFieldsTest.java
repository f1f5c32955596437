package io.troupe.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.fields.FieldRule;
import io.troupe.gateway.fields.FieldTable;
import io.troupe.gateway.fields.RequestRoute;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of fields holds on every route. */
class ServedFieldsTest {
  private static final String MESSAGES = "{\"messages\":[{\"role\":\"user\",\"content\":\"1+2=\"}]";

  /** The routes of adapters are not there without adapters. */
  private static final Set<RequestRoute> ROUTES =
      EnumSet.complementOf(EnumSet.of(RequestRoute.LOAD_ADAPTER, RequestRoute.UNLOAD_ADAPTER));

  private static ObjectNode body(RequestRoute route) throws Exception {
    String json =
        switch (route) {
          case COMPLETIONS -> "{\"prompt\":[3],\"max_tokens\":1";
          case CHAT, MESSAGES -> MESSAGES + ",\"max_tokens\":1";
          case COUNT_TOKENS -> MESSAGES;
          case RESPONSES -> "{\"input\":\"1+2=\",\"max_output_tokens\":1";
          case TOKENIZE -> "{\"prompt\":\"1\"";
          case DETOKENIZE -> "{\"tokens\":[3]";
          default -> "{";
        };
    return (ObjectNode) JsonFields.parse(json + "}");
  }

  @Test
  void anyRoute_fieldThatIsNotServed_isRefusedByItsName() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      for (RequestRoute route : ROUTES) {
        refuses(toy, route, "no_such_field");
        for (Map.Entry<String, FieldRule> row : FieldTable.of(route).entrySet()) {
          if (row.getValue() instanceof FieldRule.Only) {
            refuses(toy, route, row.getKey());
          }
        }
      }
    }
  }

  private static void refuses(ToyFixture toy, RequestRoute route, String field) throws Exception {
    ObjectNode asked = body(route);
    asked.putObject(field).put("strange", "value");
    HttpResponse<String> answer = toy.post(route.path(), asked.toString());
    assertThat(answer.statusCode()).as("%s %s", route, field).isEqualTo(400);
    JsonNode error = JsonFields.parse(answer.body()).path("error");
    assertThat(error.path("message").asText()).startsWith(field);
    assertThat(answer.headers().firstValue("x-should-retry")).hasValue("false");
    if (!route.name().startsWith("MESSAGES") && route != RequestRoute.COUNT_TOKENS) {
      assertThat(error.path("param").asText()).isEqualTo(field);
    }
  }

  @Test
  void anyRoute_bodyOfTheTestAndWhatAsksForWhatHappensAnyway_isAnswered() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      for (RequestRoute route : ROUTES) {
        if (route == RequestRoute.UPDATE_WEIGHTS || route == RequestRoute.PAUSE) {
          continue; // they change the server
        }
        ObjectNode asked = body(route);
        for (Map.Entry<String, FieldRule> row : FieldTable.of(route).entrySet()) {
          if (row.getValue() instanceof FieldRule.Only only && !only.plain().isEmpty()) {
            asked.set(row.getKey(), only.plain().getFirst());
          }
        }
        HttpResponse<String> answer = toy.post(route.path(), asked.toString());
        assertThat(answer.statusCode()).as("%s: %s", route, answer.body()).isEqualTo(200);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/completions|{\"prompt\":[3],\"max_tokens\":0}|max_tokens is 1 or more, or 0 with echo",
        "/v1/completions|{\"prompt\":{\"a\":1}}|prompt is a text, a list of token ids",
        "/v1/completions|{\"prompt\":[[3],4]}|prompt is a text, a list of token ids",
        "/tokenize|{}|send prompt, which is a text, or messages",
        "/detokenize|{\"tokens\":[\"3\"]}|tokens are ids, and one is \"3\"",
        "/abort_requests|{\"request_ids\":\"r-1\"}|request_ids is a list",
        "/pause?mod=keep|{}|mod is no field that is known here; did you mean mode?",
        "/resume|{\"mode\":\"keep\"}|mode is no field that is known here",
      })
  void anyRoute_wrongField_isRefusedWithItsReason(String path, String body, String message)
      throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      HttpResponse<String> answer = toy.post(path, body);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(JsonFields.parse(answer.body()).path("error").path("message").asText())
          .contains(message);
      assertThat(toy.get("/is_paused").body()).isEqualTo("{\"is_paused\":false}");
    }
  }
}
