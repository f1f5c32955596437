package io.troupe.aws.ec2.plan;

/** The goal of a command for a cluster. */
public sealed interface ClusterGoal {
  /** A number of instances that pass EC2's checks. */
  record Running(int count) implements ClusterGoal {}

  /** Every instance stopped; its volume stays, and is paid for. */
  record Stopped() implements ClusterGoal {}

  /** No instance, volume, network interface or placement group is left. */
  record Deleted() implements ClusterGoal {}
}
