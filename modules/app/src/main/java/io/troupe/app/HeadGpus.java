package io.troupe.app;

import io.troupe.app.config.PlacementSection;
import io.troupe.cluster.gpu.Gpu;
import io.troupe.cluster.gpu.NodeGpus;
import io.troupe.cluster.placement.Placement;
import io.troupe.cluster.placement.Role;
import io.troupe.cluster.placement.Share;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The accelerators that a head computes on: the first of its host, or of those that the environment
 * lets the process see. They are claimed before anything is loaded, like a worker's.
 *
 * @param gpus of the host
 * @param visible what CUDA_VISIBLE_DEVICES lists; none if it lists none
 */
record HeadGpus(NodeGpus gpus, List<String> visible) {
  private static final String NUMBERED = "cuda:";

  /**
   * What a node on the head's host would be refused for, if anything: the placement has a GPU for
   * the head there, and the head may have been given another one.
   *
   * @param own what was claimed
   */
  static Optional<String> inTheWay(List<Gpu> own, PlacementSection section) {
    if (!section.ranksOnNodes()) {
      return Optional.empty();
    }
    Placement placement = section.placed().orElseThrow();
    int node = placement.headNode();
    List<Integer> others =
        placement.of(node).stream()
            .filter(process -> !(process.role() instanceof Role.Head))
            .flatMap(process -> process.gpus().stream())
            .filter(number -> own.stream().anyMatch(gpu -> gpu.index() == number))
            .toList();
    return others.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "warning: the head computes on %s of this host, which the placement gives to another process of node %d, so `troupe node` on this host will refuse to work: let the head have the one that `troupe plan` draws as H (policy.device: auto, and CUDA_VISIBLE_DEVICES of the head), or start it on a host without a node"
                .formatted(Share.gpus(others), node));
  }

  /**
   * Claims them. Blocks.
   *
   * @param count how many it computes on
   * @param device {@code policy.device}
   * @throws IOException if somebody else uses one, with who is in the way; or if it cannot be known
   */
  List<Gpu> claim(int count, String device) throws IOException {
    int first =
        device.startsWith(NUMBERED) ? Integer.parseInt(device.substring(NUMBERED.length())) : 0;
    try {
      return visible.isEmpty()
          ? gpus.claim(IntStream.range(first, first + count).boxed().toList())
          : gpus.claimNamed(
              visible.stream().skip(Math.min(first, visible.size() - 1)).limit(count).toList());
    } catch (IOException refused) {
      throw new IOException("the head: " + refused.getMessage(), refused);
    }
  }
}
