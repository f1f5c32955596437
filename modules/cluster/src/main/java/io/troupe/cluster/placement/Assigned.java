package io.troupe.cluster.placement;

import java.util.List;

/**
 * A process and what it runs on.
 *
 * @param node from 0
 * @param gpus of that node, ascending, from 0: what its {@code CUDA_VISIBLE_DEVICES} lists
 */
public record Assigned(Role role, int node, List<Integer> gpus) {
  public Assigned {
    gpus = List.copyOf(gpus);
  }
}
