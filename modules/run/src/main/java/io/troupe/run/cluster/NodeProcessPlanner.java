package io.troupe.run.cluster;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildSpec;
import io.troupe.cluster.NodeAgent;
import io.troupe.cluster.NodeWeightStore;
import io.troupe.cluster.RunDescriptor;
import io.troupe.config.ClusterSection;
import io.troupe.config.RunConfig;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.net.secret.RunSecret;
import io.troupe.run.compose.ChildSecrets;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.InputDigests;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome;
import io.troupe.weights.transfer.TransferSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes that a run gets on one node.
 *
 * @param node name of the node
 * @param workers number of workers; as the run's placement says when empty, or
 *     cluster.workers_per_node
 * @param hasStandby whether one of them waits to become the coordinator
 * @param data folder of the node
 * @param network options that let a child find the cluster
 * @param ranksPort port at which the first trainer rank here listens, the others at the next ones;
 *     0 where each takes a free one
 * @param gpus of the host, if it has any
 * @param weightStore of this host's weights
 */
public record NodeProcessPlanner(
    String node,
    Optional<Integer> workers,
    boolean hasStandby,
    Path data,
    List<String> network,
    int ranksPort,
    Optional<NodeGpus> gpus,
    NodeWeightStore weightStore)
    implements NodeAgent.ProcessPlanner {
  private static final Logger LOG = LoggerFactory.getLogger(NodeProcessPlanner.class);

  /** Below a run's folder on the node. */
  private static final String SERVERS = "servers";

  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  /** Writes the run's configuration into the node's folder, and lists the processes to start. */
  @Override
  public NodeAgent.ProcessPlan plan(
      RunDescriptor terms, NodeAssignment share, BiConsumer<WeightRef, FetchOutcome> arrivals)
      throws IOException {
    Path run = Path.of(terms.folder());
    if (hasStandby || !terms.transfers()) {
      RunToken.check(terms.token(), run);
    }
    Path folder = PrivateFiles.folders(data.resolve(node).resolve(terms.run()));
    Path config = folder.resolve("resolved.yaml");
    AtomicFile.replace(config, terms.configuration());
    RunConfig settings = RunConfig.load(config, List.of()).config();
    InputDigests.check(
        terms.run(), terms.inputs(), Composition.of(settings, run.resolve("checkpoints")));
    ClusterSection section = settings.cluster();
    List<PlannedWorker> wanted = PlannedWorker.of(node, settings, share, workers);
    Map<String, List<Gpu>> claimed = claims(settings, share, wanted);
    Optional<HostPort> weights =
        terms.transfers()
            ? Optional.of(
                weightStore.open(
                    terms.run(),
                    folder.resolve("weights"),
                    RunSecret.of(terms.secret()),
                    TransferSettings.usual(section.deltaThreads()),
                    arrivals))
            : Optional.empty();
    List<ChildSpec> children = new ArrayList<>();
    OptionalInt verifiers =
        share.placed() && !wanted.isEmpty()
            ? OptionalInt.of(Math.max(1, settings.placement().verifiersPerNode() / wanted.size()))
            : OptionalInt.empty();
    for (PlannedWorker worker : wanted) {
      List<Gpu> own = claimed.getOrDefault(worker.name(), List.of());
      children.add(worker(worker, section, terms, config, weights, verifiers, own));
    }
    for (NodeAssignment.AssignedRank rank : share.ranks()) {
      children.add(rank(rank, share.ranks(), section, terms, config, claimed));
    }
    gpus.ifPresent(owned -> owned.assignments().assign(claimed));
    if (hasStandby) {
      List<Gpu> own = claimed.getOrDefault(standbyName(), List.of());
      children.add(standby(settings, terms, folder, share, own));
    }
    return new NodeAgent.ProcessPlan(
        children,
        weights,
        share.ranks().stream().map(this::name).collect(Collectors.toSet()),
        hasStandby ? Set.of(standbyName()) : Set.of());
  }

  private Map<String, List<Gpu>> claims(
      RunConfig settings, NodeAssignment share, List<PlannedWorker> workers) throws IOException {
    Map<String, List<Gpu>> claimed = new LinkedHashMap<>();
    if (gpus.isPresent()) {
      claimed.putAll(claim(gpus.get(), share, workers, ranks(settings, share)));
      if (hasStandby && settings.policy().wantsGpu() && !settings.placement().ranksOnNodes()) {
        claimed.put(
            standbyName(),
            claimForStandby(gpus.get(), settings.placement().coordinatorGpus(), claimed));
      }
    }
    return claimed;
  }

  private ChildSpec worker(
      PlannedWorker worker,
      ClusterSection section,
      RunDescriptor terms,
      Path config,
      Optional<HostPort> weights,
      OptionalInt verifiers,
      List<Gpu> claimed) {
    String name = worker.name();
    Path folder = Objects.requireNonNull(config.getParent());
    List<String> command = ChildJvm.command(section.workerHeap());
    command.addAll(List.of("worker", "--name", name, "--config", config.toString()));
    command.addAll(List.of("--run-folder", terms.folder()));
    if (worker.drivesServer()) {
      command.addAll(List.of("--server-folder", folder.resolve(SERVERS).resolve(name).toString()));
    }
    weights.ifPresent(server -> command.addAll(List.of("--weights", server.toString())));
    verifiers.ifPresent(count -> command.addAll(List.of("--verifiers", Integer.toString(count))));
    Map<String, String> environment = environment(claimed);
    environment.put(ChildSecrets.WEIGHTS, terms.secret());
    return child(name, command, folder, environment);
  }

  private ChildSpec standby(
      RunConfig settings, RunDescriptor terms, Path folder, NodeAssignment share, List<Gpu> claimed)
      throws IOException {
    List<String> command = ChildJvm.command(settings.cluster().coordinatorHeap());
    command.addAll(List.of("train", "--resume", terms.folder(), "--standby"));
    Map<String, String> environment = ChildJvm.environment();
    if (settings.policy().wantsGpu() && gpus.isPresent()) {
      // With ranks on nodes the GPU is not claimed: a coordinator at work here has it until the
      // standby takes over.
      environment.put(
          VISIBLE,
          visible(
              settings.placement().ranksOnNodes()
                  ? gpus.get().require(share.reserved())
                  : claimed));
    }
    return child(standbyName(), command, folder, environment);
  }

  private String name(NodeAssignment.AssignedRank rank) {
    return node + "-t" + rank.number();
  }

  /** GPUs of each rank that the placement has here; none where the policy computes without. */
  private Map<String, List<Integer>> ranks(RunConfig settings, NodeAssignment share) {
    return settings.policy().wantsGpu()
        ? share.ranks().stream()
            .collect(Collectors.toMap(this::name, NodeAssignment.AssignedRank::gpus))
        : Map.of();
  }

  private ChildSpec rank(
      NodeAssignment.AssignedRank rank,
      List<NodeAssignment.AssignedRank> here,
      ClusterSection section,
      RunDescriptor terms,
      Path config,
      Map<String, List<Gpu>> claimed) {
    List<String> command = ChildJvm.command(section.workerHeap());
    command.addAll(List.of("trainer-rank", "--rank", Integer.toString(rank.number())));
    command.addAll(List.of("--name", name(rank), "--node", node));
    command.addAll(List.of("--ranks-on-node", Integer.toString(here.size())));
    if (ranksPort > 0) {
      int port = ranksPort + here.indexOf(rank);
      command.addAll(List.of("--ranks-port", Integer.toString(port)));
    }
    command.addAll(List.of("--config", config.toString(), "--run-folder", terms.folder()));
    Map<String, String> environment = environment(claimed.getOrDefault(name(rank), List.of()));
    environment.put(ChildSecrets.RANK, terms.secret());
    return child(name(rank), command, Objects.requireNonNull(config.getParent()), environment);
  }

  /**
   * Claims the GPUs of the placement, unless the operator wants more workers than it has here.
   *
   * @param ranks devices of trainer ranks of this node
   */
  private static Map<String, List<Gpu>> claim(
      NodeGpus gpus,
      NodeAssignment share,
      List<PlannedWorker> workers,
      Map<String, List<Integer>> ranks)
      throws IOException {
    Map<String, List<Gpu>> handed = new LinkedHashMap<>();
    for (Map.Entry<String, List<Integer>> rank : ranks.entrySet()) {
      handed.put(rank.getKey(), gpus.claim(rank.getValue()));
    }
    int count = workers.stream().mapToInt(PlannedWorker::gpus).sum();
    if (count == 0) {
      return handed;
    }
    List<Gpu> taken = handed.values().stream().flatMap(List::stream).toList();
    Deque<Gpu> claimed =
        new ArrayDeque<>(
            share.placed() && workers.size() <= share.workers().size()
                ? gpus.claim(placed(share, workers))
                : gpus.claimExcept(count, taken));
    for (PlannedWorker worker : workers) {
      List<Gpu> own = new ArrayList<>();
      for (int i = 0; i < worker.gpus(); i++) {
        own.add(claimed.remove());
      }
      handed.put(worker.name(), List.copyOf(own));
    }
    return handed;
  }

  /** The name of the process that waits to become the coordinator. */
  private String standbyName() {
    return node + "-standby";
  }

  /**
   * Claims the GPUs that the workers have left for the trainer of a coordinator that takes over. A
   * standby trains nothing until then, so a node without enough of them still works: the
   * coordinator then sees none, and would compute on the CPU beside workers that keep theirs.
   */
  private static List<Gpu> claimForStandby(
      NodeGpus gpus, int wanted, Map<String, List<Gpu>> claimed) {
    List<Gpu> taken = claimed.values().stream().flatMap(List::stream).toList();
    try {
      return gpus.claimExcept(wanted, taken);
    } catch (IOException tooFew) {
      LOG.warn(
          "event=standby_without_gpu wanted={} reason=\"{}\" then=\"if it becomes coordinator,"
              + " its trainer computes on the CPU; start fewer workers here, or give another"
              + " node the role coordinator\"",
          wanted,
          tooFew.getMessage());
      return List.of();
    }
  }

  private static List<Integer> placed(NodeAssignment share, List<PlannedWorker> workers) {
    return IntStream.range(0, workers.size())
        .boxed()
        .flatMap(i -> share.workers().get(i).stream().limit(workers.get(i).gpus()))
        .toList();
  }

  @Override
  public void runEnded() {
    try {
      weightStore.close();
    } catch (IOException left) {
      throw new UncheckedIOException(left);
    }
  }

  private ChildSpec child(
      String name, List<String> command, Path folder, Map<String, String> environment) {
    command.addAll(network);
    return new ChildSpec(name, command, environment, folder, folder.resolve(name + ".log"));
  }

  private static Map<String, String> environment(List<Gpu> claimed) {
    Map<String, String> environment = ChildJvm.environment();
    if (!claimed.isEmpty()) {
      environment.put(VISIBLE, visible(claimed));
    }
    return environment;
  }

  private static String visible(List<Gpu> gpus) {
    return gpus.stream().map(Gpu::visible).collect(Collectors.joining(","));
  }
}
