package io.troupe.engine.http.probe;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/**
 * A scorer that can be closed. It makes one call at a time, because each call has a copy of the
 * weights. No call is in progress once it is closed.
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

  /** Waits for the call in progress. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}
