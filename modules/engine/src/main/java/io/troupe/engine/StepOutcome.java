package io.troupe.engine;

/** What became of one optimizer step. */
public sealed interface StepOutcome {
  /**
   * The weights moved. All means are over the tokens with loss weight, of the whole step.
   *
   * @param loss value of the loss before the step
   * @param gradientNorm global L2 norm before clipping
   * @param behaviourKl k3 estimate of KL(sampler || trainer): how far the weights, and the engines'
   *     arithmetic, have moved since sampling
   * @param behaviourGap largest absolute difference of trainer and sampler log-probabilities
   * @param referenceKl estimate of KL(policy || reference) by the loss's estimator; 0 without a
   *     reference
   * @param entropy of the policy's distribution at each token, in nats
   * @param clippedLow share of tokens whose ratio fell below the clip range
   * @param clippedHigh share of tokens whose ratio rose above it
   * @param tokens with a loss weight above zero
   */
  record Stepped(
      double loss,
      double gradientNorm,
      double behaviourKl,
      double behaviourGap,
      double referenceKl,
      double entropy,
      double clippedLow,
      double clippedHigh,
      long tokens)
      implements StepOutcome {}

  /** The loss or a gradient was not finite: weights and optimizer are as before the step. */
  record Skipped(String reason) implements StepOutcome {}
}
