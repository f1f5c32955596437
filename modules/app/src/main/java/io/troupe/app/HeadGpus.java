package io.troupe.app;

import io.troupe.app.config.PlacementSection;
import io.troupe.cluster.gpu.Gpu;
import io.troupe.cluster.gpu.NodeGpus;
import io.troupe.cluster.placement.Share;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The accelerators of a head's own trainer: the first of the placement's node 0, or of those that
 * the environment lets the process see. They are claimed before anything is loaded, like a
 * worker's.
 *
 * @param gpus of the host
 * @param visible what CUDA_VISIBLE_DEVICES lists; none if it lists none
 */
record HeadGpus(NodeGpus gpus, List<String> visible) {
  private static final String NUMBERED = "cuda:";

  /**
   * What a node on the head's host would be refused for, if anything: it has the last seat of the
   * placement, and its ranks and workers must leave the head its GPU.
   *
   * @param own what was claimed
   */
  static Optional<String> inTheWay(List<Gpu> own, PlacementSection section) {
    int last = section.nodes() - 1;
    List<Integer> wanted =
        section.placed().stream()
            .flatMap(placement -> placement.of(last).stream())
            .flatMap(process -> process.gpus().stream())
            .filter(number -> own.stream().anyMatch(gpu -> gpu.index() == number))
            .toList();
    return wanted.isEmpty() || !section.ranksOnNodes()
        ? Optional.empty()
        : Optional.of(
            "warning: the head's own trainer computes on %s of this host; placement gives it to a process of node %d too, so `troupe node` on this host will refuse to work: leave it idle by fewer placement.rollout_workers, start the head on a host without a node, or give it another GPU by CUDA_VISIBLE_DEVICES"
                .formatted(Share.gpus(wanted), last));
  }

  /**
   * Claims them. Blocks.
   *
   * @param count how many the trainer computes on
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
      throw new IOException("the head's trainer: " + refused.getMessage(), refused);
    }
  }
}
