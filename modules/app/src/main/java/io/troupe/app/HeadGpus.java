package io.troupe.app;

import io.troupe.cluster.gpu.Gpu;
import io.troupe.cluster.gpu.NodeGpus;
import java.io.IOException;
import java.util.List;
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
