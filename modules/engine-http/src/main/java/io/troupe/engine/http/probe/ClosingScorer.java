package io.troupe.engine.http.probe;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/**
 * Scores of an engine that ends with its user: one call at a time, because each has a copy of the
 * weights, and none is under way once it is closed.
 */
public final class ClosingScorer implements LocalScorer, AutoCloseable {
  private final LocalScorer scores;
  private boolean closed; // guarded by this

  public ClosingScorer(LocalScorer scores) {
    this.scores = scores;
  }

  @Override
  public synchronized List<double[]> of(WeightSnapshot weights, List<int[]> sequences) {
    if (closed) {
      throw new IllegalStateException("the run is ending");
    }
    return scores.of(weights, sequences);
  }

  /** Waits for a call that is under way. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}
