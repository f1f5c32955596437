package io.troupe.hosts.placement;

import java.util.List;

/**
 * A process and what it runs on.
 *
 * @param node from 0
 * @param gpus of that node, ascending, from 0: what its {@code CUDA_VISIBLE_DEVICES} lists
 */
public record PlacedProcess(ProcessRole role, int node, List<Integer> gpus) {
  public PlacedProcess {
    gpus = List.copyOf(gpus);
  }
}
