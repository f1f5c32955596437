package io.troupe.engine.http.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.protocol.CallFailure.Kind;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CallFailureTest {
  record Case(int status, String body, String said) {}

  static Stream<Case> bodies() {
    return Stream.of(
        new Case(
            400,
            "{\"error\":{\"message\":\"too long\",\"code\":400}}",
            "bad request (400): too long"),
        new Case(401, "{\"error\":\"Unauthorized\"}", "unauthorised (401): Unauthorized"),
        new Case(404, "{\"detail\":\"Not Found\"}", "no route (404): Not Found"),
        new Case(
            404,
            "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\"}",
            "no model (404): The model `x` does not exist."),
        new Case(500, "", "server (500): no message"),
        new Case(502, "<html><h1>Bad\nGateway</h1></html>", "server (502): Bad Gateway"),
        new Case(503, "{\"error\":{\"message\":\"Loading\"}}", "busy (503): Loading"),
        new Case(307, "[1, 2", "unexpected (307): [1, 2"));
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void ofStatus_anyShapeOfBody_keepsStatusAndMessage(Case example) {
    assertThat(CallFailure.ofStatus(example.status(), example.body(), ""))
        .hasToString(example.said());
  }

  @Test
  void ofStatus_hugeBody_isCut() {
    assertThat(CallFailure.ofStatus(500, "x".repeat(1 << 20), "").message()).hasSize(204);
  }

  @Test
  void after_tokensCameIn_isNeverAskedAgain() {
    for (Kind kind : Kind.values()) {
      assertThat(
              RetryPolicy.DEFAULT.after(CallFailure.of(kind, ""), 1, 1, Duration.ofMinutes(1), 0))
          .isEqualTo(new RetryPolicy.RetryDecision.GiveUp());
    }
  }

  @Test
  void after_busyServer_waitsLongerEachTimeAndAsLongAsItSays() {
    CallFailure busy = CallFailure.ofStatus(429, "", "");
    assertThat(RetryPolicy.DEFAULT.after(busy, 1, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.Again(Duration.ofMillis(25)));
    assertThat(RetryPolicy.DEFAULT.after(busy, 4, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.Again(Duration.ofMillis(200)));
    CallFailure polite = CallFailure.ofStatus(429, "", "2");
    assertThat(RetryPolicy.DEFAULT.after(polite, 1, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.Again(Duration.ofSeconds(2)));
    assertThat(RetryPolicy.DEFAULT.after(polite, 1, 0, Duration.ofSeconds(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.GiveUp());
    assertThat(RetryPolicy.DEFAULT.after(busy, 5, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.GiveUp());
  }

  @Test
  void after_serverError_isTriedOnceMore() {
    CallFailure error = CallFailure.ofStatus(500, "", "");
    assertThat(RetryPolicy.DEFAULT.after(error, 1, 0, Duration.ofMinutes(1), 0))
        .isInstanceOf(RetryPolicy.RetryDecision.Again.class);
    assertThat(RetryPolicy.DEFAULT.after(error, 2, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.GiveUp());
    assertThat(
            RetryPolicy.DEFAULT.after(
                CallFailure.ofStatus(400, "", ""), 1, 0, Duration.ofMinutes(1), 0))
        .isEqualTo(new RetryPolicy.RetryDecision.GiveUp());
  }

  @Test
  void parse_metricsOfManyKinds_addsUpWhatIsANumber() {
    LoadReport report =
        LoadReport.parse(
            """
            # HELP vllm:num_requests_running x
            vllm:num_requests_running{engine="0",model_name="a b"} 3.0
            vllm:num_requests_running{engine="1"} 4 1700000000
            vllm:num_requests_running_total 99
            vllm:num_requests_waiting{engine="0"} NaN
            vllm:num_requests_waiting{engine=
            vllm:generation_tokens_total{engine="0"} 12
            vllm:generation_tokens_created{engine="0"} 1700000000
            """);
    assertThat(report)
        .isEqualTo(
            new LoadReport(OptionalDouble.of(7), OptionalDouble.empty(), OptionalDouble.of(12)));
    assertThat(LoadReport.parse("")).isEqualTo(LoadReport.parse("<html>"));
  }
}
