package io.troupe.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.ServedModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndpointCheckTest {
  private static final int CONTEXT = 64;

  @Test
  void look_contextLongerThanTheServers_failsWithTheRemedy() throws Exception {
    try (ToyPolicy policy = new ToyPolicy(ToySettings.of("0123456789+=", CONTEXT));
        SamplingEngine engine = policy.newSampler();
        PolicyServer server =
            PolicyServer.start(
                ServedModel.completing(
                    "policy", engine, policy.tokenizer(), CONTEXT, ServedModel.withoutScorer()),
                ServeSettings.loopback(0),
                "test")) {
      String url = "http://127.0.0.1:" + server.port();
      assertThat(named("context", EndpointCheck.look(url, CONTEXT))).isEmpty();
      assertThat(named("context", EndpointCheck.look(url, CONTEXT + 1)))
          .containsExactly(
              CheckResult.fail(
                  "context",
                  "64 tokens, and the policy's is 65",
                  "its max_model_len (64) must hold the policy's context (policy.context_length,"
                      + " 65), or it refuses requests; start it with a configuration, or"
                      + " --context-length, of 65, or lower policy.context_length"));
    }
  }

  private static List<CheckResult> named(String name, List<CheckResult> findings) {
    return findings.stream().filter(finding -> finding.name().equals(name)).toList();
  }
}
