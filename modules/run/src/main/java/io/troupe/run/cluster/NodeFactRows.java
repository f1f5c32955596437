package io.troupe.run.cluster;

import io.troupe.cluster.WeightDistribution;
import io.troupe.console.source.NodeFacts;
import io.troupe.hosts.placement.NodeAssignment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The console's rows of a cluster's nodes. Pure. */
final class NodeFactRows {
  private NodeFactRows() {}

  /**
   * Returns a row for each node that has an assignment or weights, in the order of names.
   *
   * @param assignments of the nodes, by name
   * @param versions weights of the nodes that take part in transfers
   */
  static List<NodeFacts> of(
      Map<String, NodeAssignment> assignments, List<WeightDistribution.NodeVersion> versions) {
    Map<String, WeightDistribution.NodeVersion> held = new TreeMap<>();
    versions.forEach(version -> held.put(version.node(), version));
    Set<String> names = new TreeSet<>(assignments.keySet());
    names.addAll(held.keySet());
    return names.stream()
        .map(
            name ->
                row(
                    name,
                    Optional.ofNullable(assignments.get(name)),
                    Optional.ofNullable(held.get(name))))
        .toList();
  }

  private static NodeFacts row(
      String name,
      Optional<NodeAssignment> assignment,
      Optional<WeightDistribution.NodeVersion> weights) {
    return new NodeFacts(
        name,
        assignment.map(NodeAssignment::text).orElse(""),
        weights.map(WeightDistribution.NodeVersion::version).orElse(-1L),
        weights.map(WeightDistribution.NodeVersion::behind).orElse(0L),
        weights.map(WeightDistribution.NodeVersion::trouble).orElse(""),
        weights.map(WeightDistribution.NodeVersion::transfers).orElse(List.of()).stream()
            .map(NodeFactRows::transfer)
            .toList());
  }

  private static NodeFacts.Transfer transfer(WeightDistribution.Transfer ended) {
    return new NodeFacts.Transfer(
        ended.at(),
        ended.version(),
        ended.digest(),
        ended.fetched(),
        ended.reused(),
        ended.millis(),
        ended.failure());
  }
}
