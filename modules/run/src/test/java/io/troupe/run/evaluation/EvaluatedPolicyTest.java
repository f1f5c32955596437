package io.troupe.run.evaluation;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.RunConfig;
import io.troupe.run.compose.UnsupportedPolicyException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class EvaluatedPolicyTest {
  private static RunConfig shipped(String file) {
    return RunConfig.load(Path.of("../../conf").resolve(file), List.of()).config();
  }

  @Test
  void refuseTurns_policyThatCallsTools_isRefusedWithTheWayOut() {
    assertThatThrownBy(
            () -> EvaluatedPolicy.refuseTurns("tools-1", shipped("tools-arithmetic.yaml")))
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageContainingAll("tools-1", "episode.environment", "--endpoint");
    assertThatCode(() -> EvaluatedPolicy.refuseTurns("q", shipped("quickstart.yaml")))
        .doesNotThrowAnyException();
  }
}
