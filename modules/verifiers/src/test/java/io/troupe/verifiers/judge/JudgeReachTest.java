package io.troupe.verifiers.judge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.testkit.LoopbackServer;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A judge's server is looked for when its pool opens, and is not asked to judge. */
final class JudgeReachTest {
  private static VerifierService open(String endpoint) throws IOException {
    Map<String, String> options = Map.of("endpoint", endpoint, "model", "m", "attempts", "2");
    return VerifierServices.open(new VerifierSpec("judge", options, List.of()), PoolSettings.of(1));
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 401, 404, 503})
  void open_serverThatAnswers_isAskedForItsModelsOnce(int status) throws IOException {
    List<String> requests = new ArrayList<>();
    try (LoopbackServer server =
            LoopbackServer.start(
                exchange -> {
                  requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
                  LoopbackServer.answer(exchange, status, "{}");
                  exchange.close();
                });
        VerifierService _ = open(server.url() + "/v1")) {
      assertThat(requests).containsExactly("GET /v1/models");
    }
  }

  @Test
  void open_serverThatIsNotThere_isRefused() throws IOException {
    LoopbackServer server = LoopbackServer.start(_ -> {});
    String endpoint = server.url() + "/v1";
    server.close();

    assertThatThrownBy(() -> open(endpoint))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("the judge at " + endpoint + ", cannot be reached: ")
        .hasMessageEndingWith("; start its server, or correct the option endpoint");
  }
}
