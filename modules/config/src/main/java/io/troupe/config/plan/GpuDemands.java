package io.troupe.config.plan;

import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.config.plan.GpuMemory.Demand;
import io.troupe.config.plan.GpuMemory.Servers;
import io.troupe.config.policy.DecoderSection;
import io.troupe.config.policy.TorchKeys;
import io.troupe.config.rollout.SidecarsSection;
import io.troupe.config.rollout.SidecarsSection.Server;
import io.troupe.engine.djl.torch.CudaAllocator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Counts what the processes of a run take of their GPUs.
 *
 * <p>P parameters are trained as float32 weights (4 P) with a float32 sum of gradients (4 P), two
 * moments (8 P) and, in bfloat16, a rounded copy (2 P). A rank of N has the moments of its piece,
 * and the summed gradient of the piece (12 P / N). A coordinator whose ranks are processes has no
 * gradients, and no activations.
 */
final class GpuDemands {
  private static final long FLOAT = 4;
  private static final long MOMENTS = 2 * FLOAT;

  /** Slots of a cache to those in use, where it has just grown. */
  private static final long GROWTH = 2;

  /** Completions that an evaluation samples at a time. */
  private static final int WATCHED_AT_A_TIME = 512;

  private static final int MOST_RANKS = 64;
  private static final int BFLOAT16 = 2;

  private final RunConfig config;
  private final MemoryEstimate estimate;
  private final long perToken;
  private final long evaluated;
  private final long bytes;

  private GpuDemands(RunConfig config, MemoryEstimate estimate, long perToken, long evaluated) {
    this.config = config;
    this.estimate = estimate;
    this.perToken = perToken;
    this.evaluated = evaluated;
    this.bytes = config.policy().bytesOfNumber();
  }

  /**
   * The demands of a run; none if it computes on CPUs, or nothing says that there are GPUs.
   *
   * @param perToken bytes of a token's keys and values in the policy's precision
   * @param evaluated prompts of an evaluation
   */
  static Optional<GpuMemory> of(
      RunConfig config, MemoryEstimate estimate, long perToken, long evaluated) {
    PlacementSection placement = config.placement();
    if (!config.policy().wantsGpu()) {
      return Optional.empty();
    }
    GpuDemands counted = new GpuDemands(config, estimate, perToken, evaluated);
    List<Demand> demands = placement.nodes() > 0 ? counted.placed() : List.of(counted.together());
    return Optional.of(
        new GpuMemory(
            demands,
            placement.gpuBytes(),
            placement.gpuBytesSource(),
            CudaAllocator.configuredBy(System.getenv())));
  }

  /** Returns the demand of all parts on the first GPU that the process sees. */
  private Demand together() {
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("trainer", estimate.trainer().weights());
    parts.put("step", estimate.trainer().step());
    put(parts, "reference", estimate.trainer().reference());
    put(parts, "teacher", estimate.trainer().teacher());
    put(parts, "workers", estimate.samplers().workers());
    put(parts, "keys and values", estimate.samplers().keysAndValues());
    evaluator(parts);
    int servers = config.rollout().sidecars().count();
    return new Demand(
        "GPU 0",
        "trainer, engines and servers of this process",
        parts,
        servers(servers),
        advice(
            List.of(
                "lower policy.kv_tokens",
                "lower rollout.sidecars.memory_share",
                "divide the run over more GPUs (`troupe train FILE --gpus 0-1`)"),
            true));
  }

  private List<Demand> placed() {
    PlacementSection section = config.placement();
    int ranks = section.trainerRanks();
    List<Demand> demands = new ArrayList<>();
    switch (section.ranksAs()) {
      case THREADS -> {
        Map<String, Long> parts = ranks == 1 ? trainer() : owner();
        if (ranks > 1) {
          rank(ranks).forEach((name, size) -> parts.put(ranks + " ranks, " + name, ranks * size));
        }
        demands.add(demand("T0", "trainer in the coordinator's JVM", parts, List.of()));
      }
      case CHILDREN -> {
        Map<String, Long> parts = owner();
        rank(ranks).forEach((name, size) -> parts.put("rank 0, " + name, size));
        demands.add(
            demand("T0", "coordinator and its trainer rank 0", parts, List.of(ranksOnNodes())));
        if (ranks > 1) {
          demands.add(demand("T", "another trainer rank", rank(ranks), moreRanks()));
        }
      }
      case NODES -> {
        demands.add(demand("T", "trainer rank", rank(ranks), moreRanks()));
        if (section.coordinatorGpu()) {
          demands.add(
              demand(
                  "C",
                  "coordinator",
                  owner(),
                  List.of("let it compute on the CPU (placement.coordinator_gpu: false)")));
        }
      }
    }
    demands.add(worker());
    if (section.evaluationGpus() > 0) {
      demands.add(watcher());
    }
    return demands;
  }

  private static String ranksOnNodes() {
    return "let nodes start the ranks, without a GPU for the coordinator (placement.ranks_as:"
        + " nodes, placement.coordinator_gpu: false)";
  }

  private Demand demand(String label, String title, Map<String, Long> parts, List<String> special) {
    boolean steps = !label.equals("C");
    return new Demand(label, title, parts, Servers.NONE, advice(special, steps));
  }

  /** Keys that make less of what a trainer holds, without those that are set so already. */
  private List<String> advice(List<String> special, boolean steps) {
    List<String> advice = new ArrayList<>(special);
    if (steps && config.policy() instanceof DecoderSection decoder) {
      if (decoder.compute().recompute() == TorchKeys.Recompute.NONE) {
        advice.add("compute layers twice (policy.recompute: layers)");
      }
      advice.add("lower policy.micro_batch_tokens");
    }
    if (!adapted()) {
      advice.add("train adapters (policy.lora.rank)");
    }
    return advice;
  }

  /** The trainer of a run without ranks, with the evaluator beside it. */
  private Map<String, Long> trainer() {
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("trainer", estimate.trainer().weights());
    parts.put("step", estimate.trainer().step());
    beside(parts);
    return parts;
  }

  private void beside(Map<String, Long> parts) {
    put(parts, "reference", estimate.trainer().reference());
    put(parts, "teacher", estimate.trainer().teacher());
    evaluator(parts);
  }

  /** The evaluator's sampler, with a cache that has just grown. */
  private void evaluator(Map<String, Long> parts) {
    if (estimate.samplers().evaluator() > 0) {
      long tokens = evaluated * config.policy().contextLength();
      long limit = config.policy().kvTokens();
      parts.put(
          "evaluator",
          estimate.samplers().evaluator()
              + GROWTH * perToken * (limit > 0 ? Math.min(limit, tokens) : tokens));
    }
  }

  /** The state that a coordinator keeps whose ranks make the steps. */
  private Map<String, Long> owner() {
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("weights", weights());
    parts.put("moments", MOMENTS * estimate.policy().trained());
    beside(parts);
    return parts;
  }

  private Map<String, Long> rank(int ranks) {
    long trained = estimate.policy().trained();
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("weights", weights());
    parts.put("gradients", FLOAT * trained);
    parts.put("piece of the optimizer", (FLOAT + MOMENTS) * trained / ranks);
    parts.put("step", estimate.trainer().step() - rounded());
    put(parts, "reference", estimate.trainer().reference());
    return parts;
  }

  /** Master weights and their rounded copy, or a frozen base and adapters. */
  private long weights() {
    long trained = estimate.policy().trained();
    return adapted()
        ? bytes * estimate.policy().parameters() + FLOAT * trained
        : FLOAT * trained + rounded();
  }

  private long rounded() {
    return adapted() || bytes == FLOAT ? 0 : bytes * estimate.policy().parameters();
  }

  private boolean adapted() {
    return estimate.policy().trained() < estimate.policy().parameters();
  }

  /** The least number of ranks that suffices, where one does. */
  private List<String> moreRanks() {
    long capacity = config.placement().gpuBytes();
    return IntStream.rangeClosed(config.placement().trainerRanks() + 1, MOST_RANKS)
        .filter(ranks -> new Demand("", "", rank(ranks), Servers.NONE, List.of()).own() <= capacity)
        .boxed()
        .findFirst()
        .map(ranks -> List.of("take %d ranks (placement.trainer_ranks)".formatted(ranks)))
        .orElse(List.of());
  }

  private Demand worker() {
    SidecarsSection sidecars = config.rollout().sidecars();
    boolean drives = config.rollout().workers() == 0 && sidecars.count() > 0;
    if (drives && takesShare(sidecars.server())) {
      return new Demand(
          "W",
          "inference server",
          Map.of(),
          servers(1),
          List.of(
              "spread a server over more GPUs (rollout.sidecars.tensor_parallel, placement.tensor_parallel)",
              "raise rollout.sidecars.memory_share"));
    }
    long own = bytes * estimate.policy().parameters();
    long tokens =
        (drives
                ? sidecars.concurrency()
                : (long) config.rollout().groupsPerRequest()
                    * config.rollout().completionsPerPrompt())
            * config.policy().contextLength();
    long limit = config.policy().kvTokens();
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("weights", own);
    parts.put(
        "keys and values", GROWTH * perToken * (limit > 0 ? Math.min(limit, tokens) : tokens));
    return new Demand(
        "W",
        "rollout worker",
        parts,
        Servers.NONE,
        List.of("lower policy.kv_tokens or rollout.groups_per_request"));
  }

  /** The process that evaluates checkpoints, in chunks of completions. */
  private Demand watcher() {
    long tokens = (long) WATCHED_AT_A_TIME * config.policy().contextLength();
    long limit = config.policy().kvTokens();
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("weights", bytes * estimate.policy().parameters());
    parts.put(
        "keys and values", GROWTH * perToken * (limit > 0 ? Math.min(limit, tokens) : tokens));
    return new Demand(
        "E",
        "watcher of checkpoints",
        parts,
        Servers.NONE,
        List.of("lower policy.kv_tokens", "do without it (placement.evaluation_gpus: 0)"));
  }

  private static boolean takesShare(Server server) {
    return server == Server.VLLM || server == Server.SGLANG;
  }

  private Servers servers(int count) {
    SidecarsSection sidecars = config.rollout().sidecars();
    if (count == 0 || !takesShare(sidecars.server())) {
      return Servers.NONE;
    }
    long width = sidecars.dtype().equals("float32") ? FLOAT : BFLOAT16;
    long split = sidecars.tensorParallel();
    long weights = width * estimate.policy().parameters() / split;
    long token = perToken * width / bytes / split;
    return new Servers(
        count * sidecars.memoryShare(),
        count * (weights + token * config.policy().contextLength()),
        count * weights,
        token);
  }

  private static void put(Map<String, Long> parts, String name, long size) {
    if (size > 0) {
      parts.put(name, size);
    }
  }
}
