package io.troupe.aws.ec2.plan;

/**
 * A volume or a network interface that a launch made for an instance.
 *
 * @param attachedTo id of an instance; empty if it is detached
 */
public record ClusterPart(ResourceKind kind, String id, String attachedTo) {
  /** Whether no instance has the part. */
  public boolean detached() {
    return attachedTo.isEmpty();
  }

  /** Returns the kind and the id, for messages. */
  public String words() {
    return kind.words() + " " + id;
  }
}
