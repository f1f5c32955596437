package io.troupe.hosts.gpu;

import java.util.List;

/** The processes that use an accelerator. */
public sealed interface GpuOccupancy {
  /** No process uses the accelerator. */
  record Free() implements GpuOccupancy {}

  /** Only children of this agent use the GPU. */
  record Ours(List<Occupant> children) implements GpuOccupancy {}

  /**
   * Another process uses the GPU, maybe beside children of ours: the GPU must not be used, and no
   * process is ended.
   */
  record Foreign(List<Occupant> others) implements GpuOccupancy {}

  /** Only idle processes that an agent of ours left behind: they may be ended. */
  record Orphaned(List<Occupant> orphans) implements GpuOccupancy {}

  /**
   * A process that holds memory of an accelerator, or memory that no process is known to hold.
   *
   * @param description pid, program, user and memory, for a message
   */
  record Occupant(long pid, String description) {}
}
