package io.troupe.engine.parallel;

/** The outcome of a step on one rank. */
public sealed interface RankStepOutcome {
  /**
   * The rank's piece of the state moved.
   *
   * @param norm global L2 norm of the gradient before clipping, the same on every rank
   * @param part metrics of the rank's part of the batch
   */
  record Updated(double norm, PartialStepMetrics part) implements RankStepOutcome {}

  /**
   * No weight moved, on any rank.
   *
   * @param reason why this rank has no gradient; empty if it has one
   */
  record Refused(String reason) implements RankStepOutcome {}
}
