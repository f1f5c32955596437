package io.troupe.core.supervised;

import static io.troupe.core.Require.require;

/**
 * The numbers of a supervised step.
 *
 * @param step from 1
 * @param rows that entered it
 * @param tokens with loss weight
 * @param loss mean −log p of these tokens before the step
 * @param gradientNorm before clipping
 * @param learningRate of the step
 * @param paddingShare padding among the positions that passed through the policy
 * @param seconds that it took
 */
public record SupervisedStep(
    long step,
    int rows,
    long tokens,
    double loss,
    double gradientNorm,
    double learningRate,
    double paddingShare,
    double seconds) {
  public SupervisedStep {
    require(step >= 1, "steps count from 1, not %d", step);
    require(rows >= 1, "a step has at least one row, not %d", rows);
    require(tokens >= 1, "a step has at least one token, not %d", tokens);
  }
}
