package io.troupe.app;

import io.troupe.app.config.ClusterSection;
import io.troupe.app.config.RunConfig;
import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.NodeAgent;
import io.troupe.cluster.NodeDepot;
import io.troupe.cluster.Terms;
import io.troupe.cluster.gpu.Gpu;
import io.troupe.cluster.gpu.NodeGpus;
import io.troupe.cluster.placement.Share;
import io.troupe.cluster.weights.Fetched;
import io.troupe.cluster.weights.RunSecret;
import io.troupe.cluster.weights.WeightRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The processes that a run gets on one node.
 *
 * @param node its name
 * @param workers how many; as the run's placement says when empty, or cluster.workers_per_node
 * @param takesOver whether one of them waits to become the head
 * @param data folder of the node
 * @param network options that let a child find the cluster
 * @param gpus of the host, if it has any
 * @param depot of this host's weights
 */
record NodeCrew(
    String node,
    Optional<Integer> workers,
    boolean takesOver,
    Path data,
    List<String> network,
    Optional<NodeGpus> gpus,
    NodeDepot depot)
    implements NodeAgent.Crew {
  private static final String OPTIONS = "TROUPE_JAVA_OPTS";

  /** Writes down what the run is, and says what to start. */
  @Override
  public NodeAgent.Muster of(Terms terms, Share share, BiConsumer<WeightRef, Fetched> arrivals)
      throws IOException {
    Path run = Path.of(terms.folder());
    if (takesOver || !terms.transfers()) {
      RunToken.check(terms.token(), run);
    }
    Path folder = Files.createDirectories(data.resolve(node).resolve(terms.run()));
    Path config = Files.writeString(folder.resolve("resolved.yaml"), terms.configuration());
    RunConfig settings = RunConfig.load(config, List.of()).config();
    ClusterSection section = settings.cluster();
    int count = workers.orElse(share.placed() ? share.workers().size() : section.workersPerNode());
    List<Gpu> claimed =
        gpus.isPresent() && settings.policy().wantsGpu() && count > 0
            ? claim(gpus.get(), share, count)
            : List.of();
    Optional<HostPort> weights =
        terms.transfers()
            ? Optional.of(
                depot.open(
                    terms.run(), folder.resolve("weights"), RunSecret.of(terms.secret()), arrivals))
            : Optional.empty();
    List<ChildSpec> crew = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      String name = node + "-w" + i;
      List<String> command = java(section.workerHeap());
      command.addAll(List.of("worker", "--name", name, "--config", config.toString()));
      command.addAll(List.of("--run-folder", run.toString()));
      Map<String, String> environment = environment(claimed, i - 1);
      weights.ifPresent(server -> command.addAll(List.of("--weights", server.toString())));
      if (share.placed()) {
        int verifiers = Math.max(1, settings.placement().verifiersPerNode() / count);
        command.addAll(List.of("--verifiers", Integer.toString(verifiers)));
      }
      environment.put(WorkerCommand.SECRET, terms.secret());
      crew.add(child(name, command, folder, environment));
    }
    gpus.ifPresent(owned -> owned.holders().hand(claimed, node + "-w"));
    if (takesOver) {
      List<String> command = java(section.headHeap());
      command.addAll(List.of("train", "--resume", run.toString(), "--standby"));
      crew.add(child(node + "-head", command, folder, environment(List.of(), 0)));
    }
    return new NodeAgent.Muster(crew, weights);
  }

  /** Those of the placement, unless the operator wants more workers than it has here. */
  private static List<Gpu> claim(NodeGpus gpus, Share share, int count) throws IOException {
    return share.placed() && count <= share.workers().size()
        ? gpus.claim(share.workers().stream().limit(count).flatMap(List::stream).toList())
        : gpus.claim(count);
  }

  @Override
  public void over() {
    try {
      depot.close();
    } catch (IOException left) {
      throw new UncheckedIOException(left);
    }
  }

  private ChildSpec child(
      String name, List<String> command, Path folder, Map<String, String> environment) {
    command.addAll(network);
    return new ChildSpec(name, command, environment, folder, folder.resolve(name + ".log"));
  }

  /** Class path and GPU; not on the command line, so that {@code ps} shows what a process is. */
  private static Map<String, String> environment(List<Gpu> claimed, int index) {
    Map<String, String> environment = new HashMap<>();
    environment.put("CLASSPATH", System.getProperty("java.class.path"));
    if (index < claimed.size()) {
      environment.put("CUDA_VISIBLE_DEVICES", claimed.get(index).visible());
    }
    return environment;
  }

  /** This program in a JVM with a heap of its own, with the flags the launcher gives. */
  private static List<String> java(int heapMebibytes) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Xmx%dm".formatted(heapMebibytes),
            "-XX:+UseSerialGC",
            "-Dstdout.encoding=UTF-8",
            "-Dstderr.encoding=UTF-8",
            "-Dai.djl.offline=true",
            "-Dtroupe.home=" + Build.home()));
    Arrays.stream(System.getenv().getOrDefault(OPTIONS, "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .forEach(command::add);
    command.add(Main.class.getName());
    return command;
  }
}
