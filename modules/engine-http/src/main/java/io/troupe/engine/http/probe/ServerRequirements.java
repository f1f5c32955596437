package io.troupe.engine.http.probe;

/**
 * What a run asks of a server that samples for it.
 *
 * @param publishing what it is to take of each version
 * @param mayRestart whether it may be ended and started with each version
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values of requests in flight are to be computed again with new
 *     weights
 */
public record ServerRequirements(
    PublishedWeightForm publishing, boolean mayRestart, int contextLength, boolean recomputes) {
  /** Those of a policy's rollouts. */
  public static ServerRequirements of(
      LocalPolicy policy, PublishedWeightForm publishing, boolean mayRestart) {
    return new ServerRequirements(
        publishing, mayRestart, policy.contextLength(), policy.recomputes());
  }
}
