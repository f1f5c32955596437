package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.engine.train.OptimizerSettings;
import org.junit.jupiter.api.Test;

class ToyAdamWTest {
  @Test
  void move_withDecay_followsTheRecurrence() {
    assertThat(moves(new OptimizerSettings(0.1, 0.9, 0.999, 1e-8, 0.01, 0), 0.5, -0.25, 0.125))
        .containsExactly(new double[] {0.899000002, 0.871467299, 0.836552918}, within(2e-7));
  }

  @Test
  void move_gradientAboveTheClip_isScaledToIt() {
    assertThat(moves(new OptimizerSettings(0.1, 0.9, 0.999, 1e-8, 0, 1), 3, -0.25, 0.125))
        .containsExactly(new double[] {0.900000001, 0.853053191, 0.809329833}, within(2e-7));
  }

  @Test
  void move_learningRateZero_leavesTheWeights() {
    assertThat(moves(new OptimizerSettings(0, 0.9, 0.999, 1e-8, 0.1, 0), 0.5, 0.5))
        .containsExactly(1.0, 1.0);
  }

  /** The weight after each step, from 1. */
  private static double[] moves(OptimizerSettings optimisation, double... gradients) {
    float[] weight = {1};
    ToyAdamW optimizer = ToyAdamW.fresh(1);
    double[] path = new double[gradients.length];
    for (int i = 0; i < gradients.length; i++) {
      optimizer.move(weight, new double[] {gradients[i]}, Math.abs(gradients[i]), optimisation);
      path[i] = weight[0];
    }
    return path;
  }
}
