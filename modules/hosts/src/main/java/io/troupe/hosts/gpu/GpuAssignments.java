package io.troupe.hosts.gpu;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which worker of a node was given which accelerator: what the driver does not tell of virtual
 * ones, and of real ones before a worker computes. Safe for use by several threads.
 */
public final class GpuAssignments {
  private Map<String, String> byUuid = Map.of();

  /**
   * Notes that accelerators are handed out; what was noted before is forgotten.
   *
   * @param gpus by the names of the workers that get them
   */
  public synchronized void assign(Map<String, List<Gpu>> gpus) {
    Map<String, String> handed = new HashMap<>();
    gpus.forEach((worker, own) -> own.forEach(gpu -> handed.put(gpu.uuid(), worker)));
    byUuid = Map.copyOf(handed);
  }

  /** The name of the worker that has it, by UUID. */
  public synchronized Map<String, String> byUuid() {
    return byUuid;
  }
}
