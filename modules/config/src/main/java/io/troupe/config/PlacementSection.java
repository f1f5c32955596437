package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.hosts.gpu.GpuModel;
import io.troupe.hosts.placement.Placement;
import io.troupe.hosts.placement.PlacementRequest;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The roles of a run, and the accelerators of nodes on which they run; docs/cluster.md has the
 * rules.
 */
public record PlacementSection(
    @Doc(
            value =
                "Hosts that the run spans; 0 means that everything runs in one process, and keys"
                    + " of this section say nothing unless they say so.",
            unit = "nodes")
        @Default("0")
        @Range(min = 0, max = 1024)
        int nodes,
    @Doc(value = "Accelerators of each node, real or virtual.", unit = "GPUs")
        @Default("8")
        @Range(min = 1, max = 64)
        int gpusPerNode,
    @Doc(
            "Which GPUs these are, so that `troupe plan` can refuse what does not fit in their"
                + " memory; `auto` takes what this machine has. It counts in a run of one process"
                + " too.")
        @Default("auto")
        GpuModel gpu,
    @Doc(
            value = "Memory of each GPU, where its name does not say it; 0 means that of `gpu`.",
            unit = "GiB")
        @Default("0")
        @Range(min = 0, max = 4096)
        int gpuMemory,
    @Doc(value = "Data-parallel ranks of the trainer, a GPU each.", unit = "ranks")
        @Default("1")
        @Range(min = 1, max = 65536)
        int trainerRanks,
    @Doc(
            "What each trainer rank is: one of the `threads` of the coordinator's JVM; one of the"
                + " coordinator's `children`, a JVM of its own on the coordinator's host, whose"
                + " native crash costs a step and not the coordinator; or a JVM that the agents of"
                + " the `nodes` start, on the hosts and GPUs that `troupe plan` draws.")
        @Default("threads")
        RanksAs ranksAs,
    @Doc(
            "Whether trainer ranks that are processes keep copies of the state after a step, of"
                + " their piece and of their neighbour's, in their hosts' memory: 48 bytes a"
                + " parameter of a piece. Without them a lost rank costs the steps since the last"
                + " saved state and not one.")
        @Default("true")
        boolean rankCopies,
    @Doc(
            "Where `nodes` start the trainer's ranks: whether the coordinator has a GPU of its own,"
                + " for its copy of the policy, evaluations and a teacher. Without one it computes"
                + " those on the CPU.")
        @Default("true")
        boolean coordinatorGpu,
    @Doc(
            "How long a trainer rank that is a process may take to begin, or to make a step, while"
                + " it gives signs of life; then it is ended and started again, and the step is"
                + " made again. One without a sign for 20 s is ended at once.")
        @Default("30m")
        @Range(min = 1, max = 86_400)
        Duration stepLimit,
    @Doc(value = "Processes that sample, on all nodes; 0 means as many as fit.", unit = "processes")
        @Default("0")
        @Range(min = 0, max = 65536)
        int rolloutWorkers,
    @Doc(
            value =
                "Over how many GPUs of one node a rollout worker splits its weights; it divides"
                    + " `gpus_per_node`.",
            unit = "GPUs")
        @Default("1")
        @Range(min = 1, max = 64)
        int tensorParallel,
    @Doc(
            value =
                "Processes that compute log-probabilities of the reference or a teacher, a GPU"
                    + " each; 0 means that the trainer does.",
            unit = "processes")
        @Default("0")
        @Range(min = 0, max = 65536)
        int referenceWorkers,
    @Doc(value = "Processes that judge completions, on each node's CPUs.", unit = "processes")
        @Default("4")
        @Range(min = 0, max = 4096)
        int verifiersPerNode,
    @Doc(
            value =
                "GPUs of the watcher, a process that evaluates the run's checkpoints as they come"
                    + " (`troupe eval watch`), in a run on one host; 0 means no watcher. It counts"
                    + " in a run of one process too, where the watcher computes on the CPU.",
            unit = "GPUs")
        @Default("0")
        @Range(min = 0, max = 1)
        int evaluationGpus)
    implements Validated {
  /** The remedy where no run starts a watcher. */
  public static final String BY_HAND =
      "set it to 0, and run `troupe eval watch RUN --every N -o DIR` on a host that sees the run's"
          + " folder";

  /** The kinds of processes that trainer ranks are. */
  public enum RanksAs {
    THREADS,
    CHILDREN,
    NODES
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("coordinator_gpu", "nodes", "ranks_as")
        .require(
            () -> coordinatorGpu || nodes == 0 || ranksOnNodes(),
            "must be true unless the nodes start the trainer's ranks: else the coordinator computes"
                + " the ranks itself, or starts them on GPUs of its host",
            "set placement.ranks_as to nodes, or leave coordinator_gpu out");
    rules
        .on("evaluation_gpus", "nodes")
        .require(
            () -> evaluationGpus == 0 || nodes <= 1,
            "must be 0 in a run over several hosts: the run starts the watcher beside itself",
            BY_HAND);
    if (nodes > 0
        && Placement.processesOf(demand())
            instanceof Placement.Outcome.Impossible(var rule, var advice)) {
      rules
          .on(
              "nodes",
              "gpus_per_node",
              "trainer_ranks",
              "ranks_as",
              "coordinator_gpu",
              "rollout_workers",
              "tensor_parallel",
              "reference_workers",
              "evaluation_gpus")
          .require(() -> false, "must have room for all roles: " + rule, advice);
    }
  }

  /** Memory of a GPU in bytes, as the keys say it; 0 where they do not. */
  public long gpuBytes() {
    return gpuMemory > 0 ? (long) gpuMemory << 30 : gpu.bytes();
  }

  /** Returns the source of {@link #gpuBytes}. */
  public String gpuBytesSource() {
    return gpuMemory > 0
        ? "placement.gpu_memory"
        : "placement.gpu: " + gpu.name().toLowerCase(Locale.ROOT);
  }

  private PlacementRequest demand() {
    return new PlacementRequest(
        nodes,
        gpusPerNode,
        trainerRanks,
        rolloutWorkers,
        tensorParallel,
        referenceWorkers,
        verifiersPerNode,
        ranksOnNodes() && coordinatorGpu,
        evaluationGpus);
  }

  /**
   * Returns the number of accelerators on which the coordinator and its children compute: ranks
   * that are threads share one.
   */
  public int coordinatorGpus() {
    if (nodes == 0) {
      return 1;
    }
    return switch (ranksAs) {
      case THREADS -> 1;
      case CHILDREN -> trainerRanks;
      case NODES -> coordinatorGpu ? 1 : 0;
    };
  }

  /** Whether the nodes' agents start the trainer's ranks. */
  public boolean ranksOnNodes() {
    return nodes > 0 && ranksAs == RanksAs.NODES;
  }

  /** The drawing of {@code troupe plan}; none in one process. */
  public Optional<Map<String, String>> lines() {
    return placement()
        .map(
            placement ->
                placement.lines(
                    switch (ranksAs) {
                      case THREADS ->
                          trainerRanks == 1
                              ? "in the coordinator's JVM"
                              : "threads of the coordinator's JVM, which share its first GPU";
                      case CHILDREN -> "a JVM and a GPU each, children of the coordinator";
                      case NODES -> "a JVM and a GPU each";
                    }));
  }

  /** Returns the place of each role; none in one process. */
  public Optional<Placement> placement() {
    return nodes > 0
            && Placement.processesOf(demand()) instanceof Placement.Outcome.Placed(var placement)
        ? Optional.of(placement)
        : Optional.empty();
  }
}
