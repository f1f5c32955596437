package io.troupe.hosts.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Puts roles on accelerators.
 *
 * <p>Trainer ranks fill nodes from the first on, because they exchange gradients at every step and
 * a host's memory is the fastest way; reference workers follow them. Rollout workers, which
 * exchange nothing with each other, take the ends of the emptiest nodes, in blocks of {@code
 * tensor_parallel} that start at a multiple of it, so that a block lies within one half of a host's
 * links. With blocks that divide a node this wastes no GPU that another order would use.
 *
 * <p>A coordinator that has a GPU gets the first one of the node on which the ranks end, or of the
 * next one where they fill theirs: so it is near them, and parts no ranks that fit on one node.
 *
 * @param demand the request
 * @param assigned trainer ranks with the coordinator among them, reference workers, the watcher of
 *     checkpoints, rollout workers, each in order
 */
public record Placement(PlacementRequest demand, List<PlacedProcess> assigned) {
  private static final String GAP = "-";

  /** Whether a placement exists. */
  public sealed interface Outcome {
    /** The placement fits. */
    record Placed(Placement placement) implements Outcome {}

    /** The placement does not fit; the problems say what, and what to change. */
    record Impossible(String rule, String advice) implements Outcome {}
  }

  public Placement {
    assigned = List.copyOf(assigned);
  }

  /** Places a demand. */
  public static Outcome processesOf(PlacementRequest d) {
    if (d.gpusPerNode() % d.tensorParallel() != 0) {
      return new Outcome.Impossible(
          "a rollout worker's %d GPUs must divide a node's %d"
              .formatted(d.tensorParallel(), d.gpusPerNode()),
          "set placement.tensor_parallel to " + divisors(d.gpusPerNode()));
    }
    int fixed = d.singles();
    int least = Math.max(1, d.rolloutWorkers());
    int blocks = freeBlocks(d, fixed);
    if (fixed > d.gpus() || blocks < least) {
      return new Outcome.Impossible(
          "%s%s%d trainer ranks, %d reference workers and %d rollout workers of %d GPUs do not fit on %d nodes of %d GPUs"
              .formatted(
                  d.coordinatorGpu() ? "the coordinator's GPU, " : "",
                  d.evaluationGpus() > 0 ? "the watcher's GPU, " : "",
                  d.trainerRanks(),
                  d.referenceWorkers(),
                  least,
                  d.tensorParallel(),
                  d.nodes(),
                  d.gpusPerNode()),
          advice(d, fixed, blocks, least));
    }
    return new Outcome.Placed(placed(d, d.rolloutWorkers() == 0 ? blocks : d.rolloutWorkers()));
  }

  /** The number of rollout workers that fit beside {@code fixed} single GPUs at the front. */
  private static int freeBlocks(PlacementRequest d, int fixed) {
    return IntStream.range(0, d.nodes())
        .map(node -> left(d, fixed, node) / d.tensorParallel())
        .sum();
  }

  private static int left(PlacementRequest d, int fixed, int node) {
    int used = Math.clamp(fixed - (long) node * d.gpusPerNode(), 0, d.gpusPerNode());
    return d.gpusPerNode() - used;
  }

  private static String advice(PlacementRequest d, int fixed, int blocks, int least) {
    List<String> ways = new ArrayList<>();
    if (blocks >= 1 && fixed <= d.gpus()) {
      ways.add("set placement.rollout_workers to %d or less".formatted(blocks));
    }
    Optional<Integer> fewer =
        IntStream.range(1, d.trainerRanks())
            .boxed()
            .sorted(Comparator.reverseOrder())
            .filter(ranks -> freeBlocks(d, fixed - d.trainerRanks() + ranks) >= least)
            .findFirst();
    fewer.ifPresent(
        ranks -> ways.add("set placement.trainer_ranks to %d or less".formatted(ranks)));
    if (d.coordinatorGpu() && fixed <= d.gpus() + 1 && freeBlocks(d, fixed - 1) >= least) {
      ways.add("set placement.coordinator_gpu to false");
    }
    if (d.evaluationGpus() > 0 && fixed <= d.gpus() + 1 && freeBlocks(d, fixed - 1) >= least) {
      ways.add("set placement.evaluation_gpus to 0");
    }
    if (d.evaluationGpus() > 0 && d.nodes() == 1) {
      // A run with a watcher is on one host.
      int blocksOfAll = Math.ceilDiv(fixed, d.tensorParallel()) + least;
      ways.add("give it %d GPUs".formatted(blocksOfAll * d.tensorParallel()));
      return String.join(", or ", ways);
    }
    int nodes = d.nodes();
    while (freeBlocks(d.withNodes(nodes), fixed) < least) {
      nodes++;
    }
    ways.add("give it %d nodes".formatted(nodes));
    return String.join(", or ", ways);
  }

  private static String divisors(int number) {
    return IntStream.rangeClosed(1, number)
        .filter(d -> number % d == 0)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(", "));
  }

  private static Placement placed(PlacementRequest d, int workers) {
    List<PlacedProcess> assigned = new ArrayList<>();
    List<ProcessRole> singles = singles(d);
    for (int i = 0; i < singles.size(); i++) {
      assigned.add(
          new PlacedProcess(singles.get(i), i / d.gpusPerNode(), List.of(i % d.gpusPerNode())));
    }
    int fixed = singles.size();
    int[] free = IntStream.range(0, d.nodes()).map(node -> left(d, fixed, node)).toArray();
    List<PlacedProcess> blocks = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      int node =
          IntStream.range(0, free.length)
              .boxed()
              .max(Comparator.<Integer>comparingInt(n -> free[n]).thenComparingInt(n -> -n))
              .orElseThrow();
      int end = d.gpusPerNode() - taken(blocks, node) * d.tensorParallel();
      free[node] -= d.tensorParallel();
      blocks.add(
          new PlacedProcess(
              new ProcessRole.Rollout(0),
              node,
              IntStream.range(end - d.tensorParallel(), end).boxed().toList()));
    }
    blocks.sort(
        Comparator.comparingInt(PlacedProcess::node)
            .thenComparingInt(block -> block.gpus().getFirst()));
    for (int i = 0; i < blocks.size(); i++) {
      assigned.add(
          new PlacedProcess(
              new ProcessRole.Rollout(i), blocks.get(i).node(), blocks.get(i).gpus()));
    }
    return new Placement(d, assigned);
  }

  /** The roles that take the GPUs from the first on, one each. */
  private static List<ProcessRole> singles(PlacementRequest d) {
    List<ProcessRole> roles = new ArrayList<>();
    IntStream.range(0, d.trainerRanks()).forEach(rank -> roles.add(new ProcessRole.Trainer(rank)));
    if (d.coordinatorGpu()) {
      roles.add(
          d.trainerRanks() / d.gpusPerNode() * d.gpusPerNode(), new ProcessRole.Coordinator());
    }
    IntStream.range(0, d.referenceWorkers())
        .forEach(worker -> roles.add(new ProcessRole.Reference(worker)));
    if (d.evaluationGpus() > 0) {
      roles.add(new ProcessRole.Evaluation());
    }
    return roles;
  }

  private static int taken(List<PlacedProcess> blocks, int node) {
    return (int) blocks.stream().filter(block -> block.node() == node).count();
  }

  /** The node that is the coordinator's host: that of its GPU, or of the first trainer rank. */
  public int coordinatorNode() {
    return assigned.stream()
        .filter(process -> process.role() instanceof ProcessRole.Coordinator)
        .mapToInt(PlacedProcess::node)
        .findFirst()
        .orElse(0);
  }

  /** The number of the watcher's GPU on the coordinator's host; none without a watcher. */
  public OptionalInt evaluationGpu() {
    return assigned.stream()
        .filter(process -> process.role() instanceof ProcessRole.Evaluation)
        .mapToInt(process -> process.gpus().getFirst())
        .findFirst();
  }

  /** The processes of a node. */
  public List<PlacedProcess> processesOf(int node) {
    return assigned.stream().filter(process -> process.node() == node).toList();
  }

  /** Returns the GPUs of each node that the placement leaves free. */
  public Map<Integer, List<Integer>> idle() {
    Map<Integer, List<Integer>> idle = new LinkedHashMap<>();
    for (int node = 0; node < demand.nodes(); node++) {
      List<Integer> used =
          processesOf(node).stream().flatMap(process -> process.gpus().stream()).toList();
      List<Integer> left =
          IntStream.range(0, demand.gpusPerNode()).boxed().filter(g -> !used.contains(g)).toList();
      if (!left.isEmpty()) {
        idle.put(node, left);
      }
    }
    return idle;
  }

  /** Rollout workers, on all nodes. */
  public int workers() {
    return (int) assigned.stream().filter(a -> a.role() instanceof ProcessRole.Rollout).count();
  }

  /**
   * The drawing: a line a node, then a line a role; name to text.
   *
   * @param rank kind of a trainer rank
   */
  public Map<String, String> lines(String rank) {
    Map<String, String> lines = new LinkedHashMap<>();
    int width =
        Math.max(2, assigned.stream().mapToInt(a -> a.role().label().length()).max().orElse(2));
    lines.put(
        "gpu",
        row(IntStream.range(0, demand.gpusPerNode()).mapToObj(Integer::toString).toList(), width));
    for (int node = 0; node < demand.nodes(); node++) {
      String[] cells = new String[demand.gpusPerNode()];
      Arrays.fill(cells, GAP);
      processesOf(node)
          .forEach(process -> process.gpus().forEach(gpu -> cells[gpu] = process.role().label()));
      lines.put("node " + node, row(Arrays.asList(cells), width));
    }
    lines.put(
        "trainer",
        "T: %d data-parallel %s, %s; AdamW's state in %d"
                .formatted(
                    demand.trainerRanks(),
                    demand.trainerRanks() == 1 ? "rank" : "ranks",
                    rank,
                    demand.trainerRanks())
            + (demand.trainerRanks() == 1 ? " piece" : " shards"));
    lines.put(
        "rollout",
        "W: %d workers (data-parallel), each over %d %s (tensor-parallel)"
            .formatted(
                workers(), demand.tensorParallel(), demand.tensorParallel() == 1 ? "GPU" : "GPUs"));
    if (demand.coordinatorGpu()) {
      lines.put("coordinator", "C: its copy of the policy, evaluations, a teacher");
    }
    if (demand.referenceWorkers() > 0) {
      lines.put("reference", "R: %d workers, a GPU each".formatted(demand.referenceWorkers()));
    }
    if (demand.evaluationGpus() > 0) {
      lines.put("evaluation", "E: the watcher, which evaluates checkpoints as they come");
    }
    lines.put("verifiers", "%d processes on each node's CPUs".formatted(demand.verifiersPerNode()));
    lines.put("idle", idleLine());
    return lines;
  }

  private static String row(List<String> cells, int width) {
    return cells.stream()
        .map(cell -> cell + " ".repeat(width - cell.length()))
        .collect(Collectors.joining(" "))
        .stripTrailing();
  }

  private String idleLine() {
    Map<Integer, List<Integer>> idle = idle();
    if (idle.isEmpty()) {
      return "no GPU";
    }
    int count = idle.values().stream().mapToInt(List::size).sum();
    int more = idle.values().stream().mapToInt(gpus -> gpus.size() / demand.tensorParallel()).sum();
    String why =
        more > 0
            ? "no role asks for them: placement.rollout_workers could be %d"
                .formatted(workers() + more)
            : "a rollout worker takes %d on one node: placement.trainer_ranks could be %d"
                .formatted(demand.tensorParallel(), demand.trainerRanks() + count);
    return idle.entrySet().stream()
            .map(e -> "node %d GPU %s".formatted(e.getKey(), numbers(e.getValue())))
            .collect(Collectors.joining("; "))
        + " (%s)".formatted(why);
  }

  private static String numbers(List<Integer> numbers) {
    return numbers.stream().map(n -> Integer.toString(n)).collect(Collectors.joining(", "));
  }
}
