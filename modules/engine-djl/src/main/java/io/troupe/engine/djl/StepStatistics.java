package io.troupe.engine.djl;

import io.troupe.engine.StepOutcome;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Sums over the tokens of a step, gathered micro-batch by micro-batch, in float64. */
final class StepStatistics {
  /** Numbers the program returns for a micro-batch. */
  static final int COUNT = 7;

  private double loss;
  private double behaviourKl;
  private double referenceKl;
  private double entropy;
  private double low;
  private double high;
  private double gap;
  private long tokens;

  /** Adds a micro-batch and returns its loss. */
  double add(MemorySegment sums, int count) {
    double part = sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 0);
    loss += part;
    behaviourKl += sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 1);
    referenceKl += sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 2);
    entropy += sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 3);
    low += sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 4);
    high += sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 5);
    gap = Math.max(gap, sums.getAtIndex(ValueLayout.JAVA_DOUBLE, 6));
    tokens += count;
    return part;
  }

  StepOutcome.Stepped stepped(double gradientNorm) {
    return new StepOutcome.Stepped(
        loss,
        gradientNorm,
        behaviourKl / tokens,
        gap,
        referenceKl / tokens,
        entropy / tokens,
        low / tokens,
        high / tokens,
        tokens);
  }
}
