package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * One thing that goes wrong at a time.
 *
 * @param kind kind of the fault
 * @param atSeconds since the start of the run
 * @param seconds duration of the fault, where it lasts
 * @param target index of the worker or node, where it is one of several
 */
public record Fault(Kind kind, double atSeconds, double seconds, int target) {
  /** The kinds of faults. */
  public enum Kind {
    /** A worker's process dies; its place starts another one after {@code seconds}. */
    WORKER_DIES(1),
    /** A worker's engine fails every request. */
    ENGINE_FAILS(2),
    /** A worker cannot be reached, and works on. */
    PARTITION(3),
    /** A node's verifiers judge nothing and do not say so. */
    VERIFIERS_STALL(4),
    /** A node's verifiers refuse everything. */
    VERIFIERS_AWAY(5),
    /** The journal takes no record. */
    DISK_STALLS(6),
    /** The coordinator's process dies; another one resumes after {@code seconds}. */
    COORDINATOR_DIES(7),
    /** A worker decodes ten times slower. */
    WORKER_SLOWS(8);

    private final int key;

    Kind(int key) {
      this.key = key;
    }

    /** The entity of its random numbers. */
    public int key() {
      return key;
    }
  }

  public Fault {
    require(
        atSeconds >= 0 && seconds >= 0 && target >= 0,
        "a fault's time, length and target are not negative");
  }
}
