package io.troupe.cluster.membership;

import io.troupe.core.Require;
import java.util.Optional;

/**
 * The properties that a process shares with the members of its cluster.
 *
 * @param cluster name of the cluster
 * @param build of the program: messages are compatible only within one build
 */
public record ClusterIdentity(String cluster, String build) {
  public ClusterIdentity {
    Require.require(!cluster.isBlank(), "cluster.name must not be blank");
  }

  /** The reason why a process with another identity may not join; empty if it may. */
  public Optional<String> incompatibilityWith(ClusterIdentity other) {
    if (!cluster.equals(other.cluster)) {
      return Optional.of(
          "this cluster is '%s' and not '%s'; set cluster.name, or take the seed of the other cluster"
              .formatted(cluster, other.cluster));
    }
    if (!build.equals(other.build)) {
      return Optional.of(
          "this cluster runs build %s and not %s; put the same build on all hosts"
              .formatted(build, other.build));
    }
    return Optional.empty();
  }
}
