package io.troupe.engine.http.replica;

import java.util.OptionalDouble;

/**
 * What comparisons of a server's samples with the run's policy have shown, over all lives of the
 * server, in nats between the log-probabilities, on average over the tokens. How a server computes
 * does not change with its weights, so that the mean distance so far bounds those to come: a server
 * that does not use all of its new weights is farther away after a few steps, by less than half
 * precision may take.
 */
public final class WeightComparisons {
  /** Chance differs from one prompt to the next. */
  private static final double FACTOR = 4;

  /** The share of the first bound that is always left. */
  private static final double LEAST_SHARE = 0.2;

  private final OptionalDouble first;
  private double sum; // guarded by this
  private long count; // guarded by this
  private boolean reloadsInPart; // guarded by this

  /**
   * Comparisons of a server that was not compared yet.
   *
   * @param first most nats as long as nothing was measured; empty where weights are not compared
   */
  public WeightComparisons(OptionalDouble first) {
    this.first = first;
  }

  /** Returns the largest distance of a server with the policy's weights; empty for any. */
  synchronized OptionalDouble tolerance() {
    if (first.isEmpty() || count == 0) {
      return first;
    }
    double most = first.getAsDouble();
    return OptionalDouble.of(Math.min(most, LEAST_SHARE * most + FACTOR * sum / count));
  }

  synchronized void measured(double distance) {
    sum += distance;
    count++;
  }

  /** Notes that the server did not use all of the weights that it had read while it ran. */
  synchronized void reloadedInPart() {
    reloadsInPart = true;
  }

  /** Whether only a start with new weights gives all of them to the server. */
  synchronized boolean reloadsInPart() {
    return reloadsInPart;
  }
}
