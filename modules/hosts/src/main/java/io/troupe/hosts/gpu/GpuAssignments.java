package io.troupe.hosts.gpu;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The GPU of every worker of a node. The driver does not report it for virtual GPUs, nor for real
 * ones before a worker computes. Thread-safe.
 */
public final class GpuAssignments {
  private Map<String, String> byUuid = Map.of();

  /**
   * Replaces the recorded assignments.
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
