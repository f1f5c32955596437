package io.troupe.aws.ec2.plan;

/**
 * An instance as EC2 describes it.
 *
 * @param launchToken of the request that made it, from its tag
 * @param launchedAtMillis since 1970
 * @param sound whether both of EC2's status checks passed
 */
public record ClusterInstance(
    String id,
    State state,
    MachinePlace place,
    String launchToken,
    long launchedAtMillis,
    boolean sound,
    String privateAddress,
    String publicAddress) {
  /** States of an instance, by EC2's names. */
  public enum State {
    PENDING,
    RUNNING,
    STOPPING,
    STOPPED,
    SHUTTING_DOWN,
    TERMINATED
  }

  /**
   * The type of an instance and the subnet in which it is.
   *
   * @param type such as p5.48xlarge
   */
  public record MachinePlace(String type, String subnet) {}

  /** Whether the instance exists and is not on its way out. */
  public boolean live() {
    return state != State.SHUTTING_DOWN && state != State.TERMINATED;
  }

  /** Whether ssh can be expected to answer. */
  public boolean ready() {
    return state == State.RUNNING && sound;
  }
}
