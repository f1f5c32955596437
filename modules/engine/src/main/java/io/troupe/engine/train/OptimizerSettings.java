package io.troupe.engine.train;

import static io.troupe.core.Require.require;

/**
 * AdamW with clipping by global norm, exactly as PyTorch defines them (Loshchilov and Hutter 2019;
 * bias-corrected denominator sqrt(v)/sqrt(1 - beta2^t) + epsilon).
 *
 * @param learningRate of this step, 0 or greater
 * @param weightDecay decoupled; applied to matrices only, never to norms
 * @param gradientClip largest global L2 norm of the gradient; 0 means no clipping
 */
public record OptimizerSettings(
    double learningRate,
    double beta1,
    double beta2,
    double epsilon,
    double weightDecay,
    double gradientClip) {
  public OptimizerSettings {
    require(learningRate >= 0, "a learning rate is 0 or greater, not %s", learningRate);
    require(beta1 >= 0 && beta1 < 1, "beta1 lies in [0, 1), not %s", beta1);
    require(beta2 >= 0 && beta2 < 1, "beta2 lies in [0, 1), not %s", beta2);
    require(epsilon > 0, "epsilon is greater than 0, not %s", epsilon);
    require(weightDecay >= 0, "weight decay is 0 or greater, not %s", weightDecay);
    require(gradientClip >= 0, "gradient clip is 0 or greater, not %s", gradientClip);
  }
}
