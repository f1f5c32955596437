package io.troupe.engine.train;

import io.troupe.core.train.LossMetrics;
import io.troupe.core.train.TokenMarks;
import java.util.List;

/** The outcome of one optimizer step. */
public sealed interface StepOutcome {
  /**
   * The weights moved.
   *
   * @param metrics of the loss, over the whole step
   * @param entropy mean over the tokens with loss weight, examples among them, of the entropy of
   *     the policy's distribution at the token, in nats, at the temperature of its loss
   * @param gradientNorm global L2 norm before clipping
   * @param paddingShare padding among the positions that passed through the policy, in [0, 1)
   * @param times of the phases of the step
   * @param marks of the rollouts' tokens, one for each sequence in the order of the batch; none for
   *     supervised steps
   */
  record Stepped(
      LossMetrics metrics,
      double entropy,
      double gradientNorm,
      double paddingShare,
      Times times,
      List<TokenMarks> marks)
      implements StepOutcome {
    public Stepped {
      marks = List.copyOf(marks);
    }

    public double loss() {
      return metrics.loss();
    }
  }

  /**
   * The seconds that the phases of a step took.
   *
   * @param gradient forward and backward passes of the policy, and the loss between them
   * @param optimizer norm, clip and AdamW
   * @param reference forward passes of the reference policy for the penalty in the loss
   */
  record Times(double gradient, double optimizer, double reference) {}

  /** The loss or a gradient was not finite: weights and optimizer are as before the step. */
  record Skipped(String reason) implements StepOutcome {}
}
