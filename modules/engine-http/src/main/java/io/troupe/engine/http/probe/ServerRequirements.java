package io.troupe.engine.http.probe;

/**
 * The requirements of a run on a server that samples for it.
 *
 * @param publishing form in which the server gets each version
 * @param mayRestart whether the run may restart the server with each version
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values of requests in flight are to be computed again with new
 *     weights
 * @param broadcasts whether its workers are to receive the weights by NCCL
 */
public record ServerRequirements(
    PublishedWeightForm publishing,
    boolean mayRestart,
    int contextLength,
    boolean recomputes,
    boolean broadcasts) {
  /** The requirements of a run whose servers read weights from files. */
  public ServerRequirements(
      PublishedWeightForm publishing, boolean mayRestart, int contextLength, boolean recomputes) {
    this(publishing, mayRestart, contextLength, recomputes, false);
  }

  /** Returns these requirements for a server that receives its weights by NCCL, or does not. */
  public ServerRequirements broadcasting(boolean whether) {
    return new ServerRequirements(publishing, mayRestart, contextLength, recomputes, whether);
  }

  /** The requirements of a policy's rollouts. */
  public static ServerRequirements of(
      LocalPolicy policy, PublishedWeightForm publishing, boolean mayRestart) {
    return new ServerRequirements(
        publishing, mayRestart, policy.contextLength(), policy.recomputes());
  }
}
