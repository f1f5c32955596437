package io.troupe.aws.ec2;

import java.util.List;

/** What is done next on the way to a goal. */
public sealed interface ClusterStep {
  /** Creates the placement group. */
  record CreateGroup() implements ClusterStep {}

  /** Deletes the placement group. */
  record DeleteGroup() implements ClusterStep {}

  /** Sends a launch, for the first time or again. */
  record Launch(LaunchRequest request) implements ClusterStep {}

  /** Starts stopped instances. */
  record Start(List<String> ids) implements ClusterStep {}

  /** Stops instances. */
  record Stop(List<String> ids) implements ClusterStep {}

  /** Terminates instances. */
  record Terminate(List<String> ids) implements ClusterStep {}

  /** A launch without an answer made nothing: none of its instances has shown for long enough. */
  record ForgetLaunch() implements ClusterStep {}

  /** Looks again after a pause. */
  record Await(String reason) implements ClusterStep {}

  /** No offer has capacity now. */
  record OutOfCapacity() implements ClusterStep {}

  /** The goal is reached. */
  record Reached() implements ClusterStep {}

  /** The goal cannot be reached. */
  record Impossible(String reason) implements ClusterStep {}
}
