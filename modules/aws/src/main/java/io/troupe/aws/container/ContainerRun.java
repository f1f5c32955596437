package io.troupe.aws.container;

import io.troupe.base.clock.Surroundings;
import io.troupe.base.files.DurableFiles;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * A host's part of a training job: the first host trains, and evaluates beside it; every other one
 * is a node of its cluster. SIGTERM, which SageMaker sends two minutes before it kills, has the run
 * save itself; the nodes stay until it has.
 */
public final class ContainerRun {
  private static final String STEM = "run";

  /** The time for which peers, and the store of copies, may be away at the start of a job. */
  private static final Duration PEERS = Duration.ofMinutes(5);

  /** The time for which a node that is to stop waits for the first host, whose run saves itself. */
  private static final Duration ORDERLY_END = Duration.ofSeconds(100);

  private static final Duration NODE_DRAIN = Duration.ofSeconds(20);
  private static final Duration LOOK = Duration.ofMillis(500);
  private static final int FAILURE_BYTES = 1_024;

  private final ContainerContract contract;
  private final ContainerFolders folders;
  private final PrintStream out;
  private final Surroundings here;
  private final JobNetwork network;
  private final AtomicReference<Optional<ContainerProcess>> training =
      new AtomicReference<>(Optional.empty());
  private volatile boolean stopping;

  private ContainerRun(ContainerContract contract, ContainerFolders folders, PrintStream out) {
    this.contract = contract;
    this.folders = folders;
    this.out = out;
    this.here = Surroundings.ofProcess(LOOK, out::println);
    this.network = new JobNetwork(contract, PEERS, here);
  }

  /**
   * Works as the host of a job that this process finds itself on.
   *
   * @return the exit code of the container
   */
  public static int enter(Map<String, String> environment, PrintStream out)
      throws IOException, InterruptedException {
    ContainerFolders folders = ContainerFolders.of(environment);
    try {
      ContainerContract contract =
          ContainerContract.parse(
              text(folders.description("resourceconfig.json")),
              text(folders.description("hyperparameters.json")),
              Files.exists(folders.description("inputdataconfig.json"))
                  ? text(folders.description("inputdataconfig.json"))
                  : "",
              environment);
      return new ContainerRun(contract, folders, out).run();
    } catch (IOException | IllegalArgumentException failure) {
      fail(folders, String.valueOf(failure.getMessage()));
      throw failure instanceof IOException disk
          ? disk
          : new IOException(failure.getMessage(), failure);
    }
  }

  private static String text(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(
          "%s is not there; this is for a container of a training job, or set %s to a folder that plays /opt/ml"
              .formatted(file, ContainerFolders.BASE));
    }
    return Files.readString(file);
  }

  /** Leaves the reason where SageMaker looks for it. */
  private static void fail(ContainerFolders folders, String reason) throws IOException {
    byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
    Files.createDirectories(DurableFiles.parent(folders.failure()));
    Files.write(folders.failure(), Arrays.copyOf(bytes, Math.min(bytes.length, FAILURE_BYTES)));
  }

  private int run() throws IOException, InterruptedException {
    for (String channel : contract.channels()) {
      if (!Files.isDirectory(folders.data().resolve(channel))) {
        throw new IOException("channel %s has no folder in %s".formatted(channel, folders.data()));
      }
    }
    Files.createDirectories(folders.runs());
    var _ =
        Signals.install(this::stop, number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    out.printf(
        "host %s of %s, channels %s%n", contract.host(), contract.hosts(), contract.channels());
    return contract.coordinates() ? coordinate() : work();
  }

  private void stop(int number) {
    stopping = true;
    training.get().ifPresent(train -> train.signal(number));
  }

  /** The first host. */
  private int coordinate() throws IOException, InterruptedException {
    String address = network.ownAddress();
    Files.writeString(folders.config(), contract.parameters().config());
    // The others wait for the notice only so long, and finding a copy may take its time.
    try (RunEndNotice notice =
        RunEndNotice.listen(new HostPort(address, contract.alone() ? 0 : HostPlan.END_PORT))) {
      Optional<String> copy =
          newestRun().isPresent()
              ? Optional.empty()
              : new JobCopies(contract.parameters().assignments(), PEERS, here, () -> stopping)
                  .newest();
      HostPlan plan =
          new HostPlan(
              contract, folders, new HostPlan.HostFindings(gpus(), address, address, copy));
      Map<String, String> variables = plan.toolkitVariables();
      ContainerProcess train = start("", plan.train(), variables);
      training.set(Optional.of(train));
      if (stopping) {
        train.signal(Signals.SIGTERM);
      }
      Optional<JobNode> node = startNode(plan, variables);
      Optional<ContainerProcess> watch = startEvaluations(plan, train, variables);
      int code = train.await();
      if (watch.isPresent()) {
        watch.get().end(NODE_DRAIN);
      }
      if (code == ExitCode.OK.code() && !stopping) {
        code = evaluateTheRest(plan, variables);
      }
      if (node.isPresent()) {
        node.get().end(NODE_DRAIN);
      }
      notice.send(code);
      Optional<Path> run = newestRun();
      if (run.isPresent()) {
        new JobResults(folders).leave(run.get());
      }
      if (code != ExitCode.OK.code() && !stopping) {
        fail(folders, "train ended with code %d: %s".formatted(code, train.complaint()));
      }
      return code;
    }
  }

  /** Any other host. */
  private int work() throws IOException, InterruptedException {
    String coordinator = network.resolved(contract.hosts().getFirst());
    HostPlan plan =
        new HostPlan(
            contract,
            folders,
            new HostPlan.HostFindings(gpus(), network.ownAddress(), coordinator, Optional.empty()));
    Optional<JobNode> node = startNode(plan, plan.toolkitVariables());
    OptionalInt end =
        RunEndNotice.await(
            new HostPort(coordinator, HostPlan.END_PORT), stopping ? ORDERLY_END : PEERS);
    if (node.isPresent()) {
      node.get().end(NODE_DRAIN);
    }
    if (end.isEmpty()) {
      throw new IOException(
          "host %s is gone, or never came, for %d min"
              .formatted(contract.hosts().getFirst(), PEERS.toMinutes()));
    }
    return ExitCode.OK.code(); // What the run came to, its host says.
  }

  private ContainerProcess start(String name, List<String> words, Map<String, String> variables)
      throws IOException {
    out.println("starts troupe " + String.join(" ", words));
    return ContainerProcess.start(name, words, variables, folders.work(), out);
  }

  private Optional<JobNode> startNode(HostPlan plan, Map<String, String> variables)
      throws IOException {
    Optional<List<String>> words = plan.node();
    return words.isEmpty()
        ? Optional.empty()
        : Optional.of(JobNode.keep(() -> start("node", words.get(), variables), out));
  }

  /** Starts to evaluate once the run has a folder. */
  private Optional<ContainerProcess> startEvaluations(
      HostPlan plan, ContainerProcess train, Map<String, String> variables)
      throws IOException, InterruptedException {
    if (contract.evalEvery() == 0) {
      return Optional.empty();
    }
    while (train.isAlive() && newestRun().isEmpty()) {
      here.pause(here.lookAgain());
    }
    Optional<List<String>> words = newestRun().flatMap(plan::evaluate);
    return words.isEmpty()
        ? Optional.empty()
        : Optional.of(start("eval", words.get(), evaluating(plan, variables)));
  }

  private int evaluateTheRest(HostPlan plan, Map<String, String> variables)
      throws IOException, InterruptedException {
    Optional<List<String>> words = newestRun().flatMap(plan::evaluate);
    if (words.isEmpty()) {
      return ExitCode.OK.code();
    }
    List<String> once = Stream.concat(words.get().stream(), Stream.of("--once")).toList();
    ContainerProcess rest = start("eval", once, evaluating(plan, variables));
    training.set(Optional.of(rest));
    int code = rest.await();
    if (code != ExitCode.OK.code() && !stopping) {
      out.println("the evaluations are incomplete; the run is complete: " + rest.complaint());
    }
    return ExitCode.OK.code();
  }

  private static Map<String, String> evaluating(HostPlan plan, Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(variables);
    all.putAll(plan.evaluationVariables());
    return all;
  }

  private Optional<Path> newestRun() throws IOException {
    return RunFolder.newestOf(folders.runs(), STEM).map(folders.runs()::resolve);
  }

  /** GPUs of this host, as SageMaker's toolkits count them. */
  private int gpus() throws IOException, InterruptedException {
    String told = contract.variable("SM_NUM_GPUS");
    if (!told.isEmpty()) {
      return Integer.parseInt(told);
    }
    Process list;
    try {
      list = new ProcessBuilder("nvidia-smi", "--list-gpus").start();
    } catch (IOException none) {
      return 0;
    }
    try (InputStream lines = list.getInputStream()) {
      long gpus =
          new String(lines.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.startsWith("GPU "))
              .count();
      return list.waitFor() == 0 ? Math.toIntExact(gpus) : 0;
    }
  }
}
