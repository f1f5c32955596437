package io.troupe.aws.ec2.plan;

/** What is to become of a cluster. */
public sealed interface ClusterGoal {
  /** A number of instances that pass EC2's checks. */
  record Running(int count) implements ClusterGoal {}

  /** Every instance stopped; its volume stays, and is paid for. */
  record Stopped() implements ClusterGoal {}

  /** Nothing left. */
  record Deleted() implements ClusterGoal {}
}
