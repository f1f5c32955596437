package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The parts of a run, and their numbers.
 *
 * @param workers rollout workers
 * @param nodes hosts that they are on, in blocks
 * @param groupsPerRequest groups that a worker asks for at a time
 * @param rows most completions that a worker decodes at a time
 * @param verifiers of each node's pool
 * @param trainerRanks of the trainer
 * @param recomputes whether caches are computed again with new weights
 * @param cpu cores that trainer and workers share
 */
public record ClusterShape(
    int workers,
    int nodes,
    int groupsPerRequest,
    int rows,
    int verifiers,
    int trainerRanks,
    boolean recomputes,
    CpuShape cpu) {
  /**
   * The CPU of a run in one process.
   *
   * @param cores 0 where trainer and workers share none
   * @param samplerThreads of each worker
   * @param trainerThreads of the trainer
   * @param backgroundThreads that compute for neither, on average: compilation, collection of
   *     garbage, actors, the journal
   */
  public record CpuShape(
      double cores, double samplerThreads, double trainerThreads, double backgroundThreads) {
    /** Every part has an accelerator or a host of its own. */
    public static final CpuShape NONE = new CpuShape(0, 1, 1, 0);

    /** Returns the factor by which a thread beside others is slower than with a core of its own. */
    public double slowness(double busyThreads) {
      return cores == 0 ? 1 : Math.max(1, (busyThreads + backgroundThreads) / cores);
    }
  }

  public ClusterShape {
    require(workers >= 1, "a simulated run has 1 rollout worker or more, not %s", workers);
    require(nodes >= 1 && nodes <= workers, "%s nodes cannot have %s workers", nodes, workers);
    require(
        groupsPerRequest >= 1 && rows >= 1 && verifiers >= 1 && trainerRanks >= 1,
        "groups_per_request, rows, verifiers and trainer ranks are 1 or more");
  }

  /** The node that a worker is on. */
  public int nodeOf(int worker) {
    return (int) ((long) worker * nodes / workers);
  }
}
