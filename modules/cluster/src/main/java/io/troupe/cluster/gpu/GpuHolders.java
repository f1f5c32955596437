package io.troupe.cluster.gpu;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which worker of a node was given which accelerator: what the driver does not tell of virtual
 * ones, and of real ones before a worker computes. Safe for use by several threads.
 */
public final class GpuHolders {
  private Map<String, String> byUuid = Map.of();

  /**
   * Notes that accelerators are handed out, in order, to workers 1, 2, …; what was noted before is
   * forgotten.
   *
   * @param prefix of the workers' names, before the number
   */
  public synchronized void hand(List<Gpu> gpus, String prefix) {
    Map<String, String> handed = new HashMap<>();
    for (int i = 0; i < gpus.size(); i++) {
      handed.put(gpus.get(i).uuid(), prefix + (i + 1));
    }
    byUuid = Map.copyOf(handed);
  }

  /** The name of the worker that has it, by UUID. */
  public synchronized Map<String, String> byUuid() {
    return byUuid;
  }
}
