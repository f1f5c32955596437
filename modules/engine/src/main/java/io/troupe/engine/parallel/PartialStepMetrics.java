package io.troupe.engine.parallel;

import io.troupe.core.train.StepLoss;
import io.troupe.core.train.TokenMarks;
import io.troupe.engine.train.StepOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * The metrics of a part of a step; the metrics of all parts add up to those of the step.
 *
 * @param loss of the sequences of the part
 * @param entropy sum over the tokens with loss weight, in nats
 * @param tokens number of tokens with loss weight
 * @param read positions that passed through the policy and held a token
 * @param padded all positions that passed through the policy
 * @param gradientSeconds see {@link StepOutcome.Times#gradient}
 * @param referenceSeconds see {@link StepOutcome.Times#reference}
 */
public record PartialStepMetrics(
    StepLoss.Part loss,
    double entropy,
    long tokens,
    long read,
    long padded,
    double gradientSeconds,
    double referenceSeconds) {
  /**
   * Combines parts that were computed at the same time into their step.
   *
   * @param parts in the order of the batch
   * @param seconds of the whole step
   */
  static StepOutcome.Stepped whole(List<PartialStepMetrics> parts, double norm, double seconds) {
    StepLoss loss = new StepLoss();
    List<TokenMarks> marks = new ArrayList<>();
    double entropy = 0;
    long tokens = 0;
    long read = 0;
    long padded = 0;
    double gradientSeconds = 0;
    double referenceSeconds = 0;
    for (PartialStepMetrics part : parts) {
      loss.add(part.loss);
      marks.addAll(part.loss.marks());
      entropy += part.entropy;
      tokens += part.tokens;
      read += part.read;
      padded += part.padded;
      gradientSeconds = Math.max(gradientSeconds, part.gradientSeconds);
      referenceSeconds = Math.max(referenceSeconds, part.referenceSeconds);
    }
    return new StepOutcome.Stepped(
        loss.metrics(),
        entropy / Math.max(tokens, 1),
        norm,
        1 - (double) read / Math.max(padded, 1),
        new StepOutcome.Times(
            gradientSeconds,
            Math.max(0, seconds - gradientSeconds - referenceSeconds),
            referenceSeconds),
        marks);
  }
}
