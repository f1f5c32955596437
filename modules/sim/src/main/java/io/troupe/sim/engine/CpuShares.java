package io.troupe.sim.engine;

import io.troupe.sim.model.ClusterShape.CpuShape;
import java.util.ArrayList;
import java.util.List;

/**
 * The cores of one host that trainer and workers of one process share: when more threads compute
 * than there are cores, each gets an equal share and everything takes longer.
 */
public final class CpuShares {
  /** Work whose speed depends on the share of a core that each of its threads gets. */
  interface Shared {
    /** Takes a new slowness, 1 where every thread has a core of its own. */
    void slow(double factor);
  }

  private final CpuShape cpu;
  private final List<Shared> all = new ArrayList<>();
  private double busy;
  private double factor = 1;

  /** A host. */
  public CpuShares(CpuShape cpu) {
    this.cpu = cpu;
  }

  void register(Shared work) {
    all.add(work);
  }

  double factor() {
    return factor;
  }

  /** Counts threads that begin to compute, or end where the number is negative. */
  void add(double threads) {
    busy += threads;
    double next = cpu.slowness(busy);
    if (next != factor) {
      factor = next;
      for (Shared work : all) {
        work.slow(factor);
      }
    }
  }
}
