package io.troupe.engine.parallel;

import java.lang.foreign.MemorySegment;

/** The outcome of a step on one rank. */
public sealed interface RankStepOutcome {
  /**
   * The weights moved. The arrays are float32, of this rank's piece of the flat array, valid until
   * the rank is called again, or the arena of the step is closed.
   *
   * @param norm global L2 norm of the gradient before clipping, the same on every rank
   * @param part metrics of the rank's part of the batch
   * @param weights after the step
   * @param first AdamW's first moments after the step
   * @param second AdamW's second moments after the step
   */
  record Updated(
      double norm,
      PartialStepMetrics part,
      MemorySegment weights,
      MemorySegment first,
      MemorySegment second)
      implements RankStepOutcome {}

  /**
   * Nothing moved, on any rank.
   *
   * @param reason why this rank has no gradient; empty if it has one
   */
  record Refused(String reason) implements RankStepOutcome {}
}
