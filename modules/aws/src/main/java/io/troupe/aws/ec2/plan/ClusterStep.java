package io.troupe.aws.ec2.plan;

import java.util.List;

/** The next step on the way to a goal. */
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

  /** Deletes parts that no instance has. */
  record DeleteParts(List<ClusterPart> parts) implements ClusterStep {}

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

  /** The step as the words after "to". */
  default String words() {
    return switch (this) {
      case CreateGroup _ -> "create the placement group";
      case DeleteGroup _ -> "delete the placement group";
      case Launch(var request) ->
          "launch %d of %s in %s"
              .formatted(request.count(), request.place().type(), request.place().subnet());
      case Start(var ids) -> "start " + String.join(", ", ids);
      case Stop(var ids) -> "stop " + String.join(", ", ids);
      case Terminate(var ids) -> "terminate " + String.join(", ", ids);
      case DeleteParts(var parts) ->
          "delete " + String.join(", ", parts.stream().map(ClusterPart::words).toList());
      case ForgetLaunch _ -> "forget a launch that made nothing";
      case Await(var reason) -> "wait for " + reason;
      case OutOfCapacity _ -> "wait for capacity, which no offer of the file has now";
      case Reached _ -> "do nothing, all is done";
      case Impossible(var reason) -> "refuse: " + reason;
    };
  }
}
