package io.troupe.engine.djl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class GoldenStepTest {
  @Test
  void compute_withThePyTorchOfThisProcess_givesTheKnownNumbers() {
    assertThat(GoldenStep.compute().distance()).isLessThan(GoldenStep.TOLERANCE);
  }

  @Test
  void distance_oneNumberOff_isItsRelativeDistance() {
    GoldenStep step = GoldenStep.compute();
    List<Double> norms =
        List.of(step.norms().get(0), step.norms().get(1), step.norms().get(2) * 1.001);
    assertThat(new GoldenStep("", "", 0, step.losses(), norms).distance()).isBetween(9e-4, 1.1e-3);
    List<Double> broken = List.of(step.norms().get(0), Double.NaN, step.norms().get(2));
    assertThat(new GoldenStep("", "", 0, step.losses(), broken).distance()).isInfinite();
  }
}
