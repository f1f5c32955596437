package io.troupe.engine.http.probe;

/**
 * What a run requires of a server that samples for it.
 *
 * @param publishing what the server gets of each version
 * @param mayRestart whether the run may restart the server with each version
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values of requests in flight are to be computed again with new
 *     weights
 */
public record ServerRequirements(
    PublishedWeightForm publishing, boolean mayRestart, int contextLength, boolean recomputes) {
  /** The requirements of a policy's rollouts. */
  public static ServerRequirements of(
      LocalPolicy policy, PublishedWeightForm publishing, boolean mayRestart) {
    return new ServerRequirements(
        publishing, mayRestart, policy.contextLength(), policy.recomputes());
  }
}
