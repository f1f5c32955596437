package io.troupe.weights.transfer;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The sources from which each node fetches. Nodes pass chunks on while they receive, so a chain
 * brings a version to n nodes in little more than the time for one, and loads each network link
 * once; a tree is for hosts that are far apart.
 *
 * <p>A node that was slow or dead the last time feeds no other. If a node becomes so now, the nodes
 * behind it continue with the source above it: every list ends with the publisher.
 *
 * @param sources of each node, the one to prefer first
 * @param <N> name of a node
 */
public record RelayPlan<N>(Map<N, List<N>> sources) {
  /**
   * Plans a transfer.
   *
   * @param nodes that want the version, in the order of the chain; neighbours should be near
   * @param doubtful nodes that held up the last transfer
   * @param fanOut number of nodes that each node feeds: 1 is a chain
   */
  public static <N> RelayPlan<N> of(N publisher, List<N> nodes, Set<N> doubtful, int fanOut) {
    require(fanOut >= 1, "a node feeds 1 other or more, not %d", fanOut);
    require(
        Set.copyOf(nodes).size() == nodes.size() && !nodes.contains(publisher),
        "each node is once in a relay, and the publisher not: %s",
        nodes);
    List<N> sound = nodes.stream().filter(node -> !doubtful.contains(node)).toList();
    Map<N, List<N>> sources = new LinkedHashMap<>();
    for (int i = 0; i < sound.size(); i++) {
      sources.put(sound.get(i), above(publisher, sound, i, fanOut, sources));
    }
    List<N> leaves = nodes.stream().filter(doubtful::contains).toList();
    for (int i = 0; i < leaves.size(); i++) {
      int place = sound.isEmpty() ? 0 : sound.size() - 1 - i % sound.size();
      List<N> list = new ArrayList<>();
      if (!sound.isEmpty()) {
        list.add(sound.get(place));
        list.addAll(sources.getOrDefault(sound.get(place), List.of()));
      } else {
        list.add(publisher);
      }
      sources.put(leaves.get(i), List.copyOf(list));
    }
    return new RelayPlan<>(sources);
  }

  public RelayPlan {
    sources = Map.copyOf(sources);
  }

  private static <N> List<N> above(
      N publisher, List<N> sound, int place, int fanOut, Map<N, List<N>> sources) {
    if (place < fanOut) {
      return List.of(publisher);
    }
    N parent = sound.get(place / fanOut - 1);
    List<N> list = new ArrayList<>();
    list.add(parent);
    list.addAll(sources.getOrDefault(parent, List.of()));
    return List.copyOf(list);
  }

  /** The sources of a node. */
  public List<N> of(N node) {
    return sources.getOrDefault(node, List.of());
  }
}
