package io.troupe.soak;

import io.troupe.base.process.Announcements;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processes of a soaked cluster, all on loopback: a coordinator, one that waits to become it,
 * two nodes of two workers. It starts again what has ended, as an operator's supervisor would, and
 * knows who is who.
 *
 * <p>The nodes keep their workers, and node a the process that waits. The coordinator that an
 * operator started waits too, once another process has the run.
 */
final class SoakCluster {
  /** Names of the workers. */
  static final List<String> WORKERS = List.of("a-w1", "a-w2", "b-w1", "b-w2");

  private static final int HEAP = 128;
  private static final long START_AGAIN_NANOS = 1_000_000_000L;
  private static final String STANDBY = "--standby";
  private static final String WORKER = " worker ";

  private final SoakJvm jvm;
  private final Path folder;
  private final Path config;
  private final Consumer<String> say;
  private final SoakProcess coordinator;
  private final SoakProcess a;
  private final SoakProcess b;
  private final Map<String, Integer> ports = new HashMap<>();
  private final Map<Long, Long> standbyLogs = new HashMap<>();
  private final Set<Long> expectEnd = new HashSet<>();
  private Optional<RunFolder> run = Optional.empty();
  private int endedByThemselves;

  SoakCluster(SoakJvm jvm, Path folder, Path config, Consumer<String> say) throws IOException {
    this.jvm = jvm;
    this.folder = folder;
    this.config = config;
    this.say = say;
    this.coordinator = new SoakProcess("coordinator", folder);
    this.a = new SoakProcess("a", folder);
    this.b = new SoakProcess("b", folder);
    for (SoakProcess member : members()) {
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        ports.put(member.name(), free.getLocalPort());
      }
    }
  }

  List<SoakProcess> members() {
    return List.of(coordinator, a, b);
  }

  /** Starts all of it, and returns the run once it has a journal. */
  RunFolder begin(long patienceNanos) throws IOException, InterruptedException {
    for (SoakProcess member : members()) {
      start(member);
    }
    long deadline = System.nanoTime() + patienceNanos;
    while (System.nanoTime() < deadline) {
      Path root = folder.resolve("runs");
      List<String> names = RunFolder.list(root);
      if (!names.isEmpty()
          && Files.isDirectory(root.resolve(names.getFirst()).resolve("journal"))) {
        run = Optional.of(RunFolder.view(root, names.getFirst()));
        return run.get();
      }
      Thread.sleep(100);
    }
    throw new IOException("the run never started; its own words are in " + folder);
  }

  /** Starts again what has been dead for a second. */
  void restartEnded(long now) throws IOException, InterruptedException {
    for (SoakProcess member : members()) {
      if (!member.isAlive() && now - member.endedAt(now) >= START_AGAIN_NANOS) {
        if (!expectEnd.contains(member.pid())) {
          endedByThemselves++;
          say.accept("%s ended by itself with code %d".formatted(member.name(), member.code()));
        }
        start(member);
      }
    }
  }

  private void start(SoakProcess member) throws IOException {
    List<String> arguments = new ArrayList<>();
    if (member == coordinator) {
      arguments.add("train");
      if (run.isEmpty()) {
        arguments.add(config.toString());
      } else {
        arguments.addAll(List.of("--resume", run.get().path().toString()));
      }
      arguments.add("--cluster");
      if (run.isPresent()) {
        arguments.addAll(List.of("--seed", address(a) + "," + address(b)));
      }
    } else {
      arguments.addAll(List.of("node", "--name", member.name(), "--workers", "2"));
      arguments.addAll(List.of("--roles", member == a ? "node,coordinator" : "node"));
      arguments.addAll(
          List.of("--seed", address(coordinator) + "," + address(member == a ? b : a)));
    }
    arguments.addAll(List.of("--port", Integer.toString(port(member))));
    member.start(jvm.process(HEAP, arguments));
  }

  private String address(SoakProcess member) {
    return "127.0.0.1:" + port(member);
  }

  private int port(SoakProcess member) {
    return Objects.requireNonNull(ports.get(member.name()));
  }

  /** The process that has the run; 0 if it is not known. */
  long holder() throws IOException {
    Path file = run.orElseThrow().path().resolve("cluster/lease-holder");
    String[] words = Files.exists(file) ? Files.readString(file).split(" ", -1) : new String[0];
    return words.length > 1 ? Long.parseLong(words[1]) : 0;
  }

  /** The processes that a blow may fall on. */
  List<ProcessHandle> of(ClusterFault.Target part) throws IOException {
    long holder = holder();
    return switch (part) {
      case WORKER -> workers();
      case COORDINATOR -> coordinatorCandidates().filter(one -> one.pid() == holder).toList();
      case STANDBY -> coordinatorCandidates().filter(one -> one.pid() != holder).toList();
      case NODE ->
          Stream.of(a, b).filter(SoakProcess::isAlive).flatMap(SoakProcess::handle).toList();
      case PROGRAM -> workers().stream().flatMap(ProcessHandle::children).toList();
    };
  }

  private List<ProcessHandle> workers() {
    return Stream.concat(a.children(WORKER).stream(), b.children(WORKER).stream()).toList();
  }

  private Stream<ProcessHandle> coordinatorCandidates() {
    return Stream.concat(coordinator.handle(), a.children(STANDBY).stream());
  }

  /** Notes that a process was ended on purpose. */
  void expectEnd(ProcessHandle process) {
    expectEnd.add(process.pid());
  }

  /** Returns the number of processes that ended without an order. */
  int endedByThemselves() {
    return endedByThemselves;
  }

  /**
   * Returns the missing processes, in words; "" when all processes are there and one waits to be
   * coordinator.
   */
  String missing() throws IOException {
    List<String> missing =
        members().stream()
            .filter(member -> !member.isAlive())
            .map(SoakProcess::name)
            .collect(Collectors.toCollection(ArrayList::new));
    int workers = workers().size();
    if (workers < WORKERS.size()) {
      missing.add("%d of %d workers".formatted(WORKERS.size() - workers, WORKERS.size()));
    }
    long holder = holder();
    if (coordinatorCandidates().noneMatch(one -> one.pid() == holder)) {
      missing.add("a coordinator");
    }
    if (!hasStandby(holder)) {
      missing.add("a process that waits to be coordinator");
    }
    return String.join(", ", missing);
  }

  private boolean hasStandby(long holder) throws IOException {
    if (coordinator.isAlive()
        && coordinator.pid() != holder
        && coordinator.said(Announcements.COORDINATOR_AT)) {
      return true;
    }
    Path log =
        folder.resolve("node-data/a").resolve(run.orElseThrow().name()).resolve("a-standby.log");
    for (ProcessHandle one : a.children(STANDBY)) {
      if (!standbyLogs.containsKey(one.pid())) {
        standbyLogs.put(one.pid(), Files.exists(log) ? Files.size(log) : 0);
      }
      if (one.pid() != holder
          && SoakProcess.holds(log, standbyLogs.get(one.pid()), Announcements.COORDINATOR_AT)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Ends the run and all its processes in order.
   *
   * @return deviations from the promises
   */
  List<String> end(JournalFollower watch, long patienceSeconds)
      throws IOException, InterruptedException {
    List<String> problems = new ArrayList<>();
    long holder = holder();
    if (coordinator.pid() != holder) {
      coordinator.signal("TERM"); // Or it would continue the run, as it was told to.
      coordinator.ends(patienceSeconds);
    }
    SoakProcess.signal(holder, "TERM");
    long deadline = System.nanoTime() + patienceSeconds * 1_000_000_000L;
    while (!watch.ended() && System.nanoTime() < deadline) {
      Thread.sleep(100);
      watch.look(System.nanoTime());
    }
    if (!watch.ended()) {
      problems.add("the run did not end within %d s of SIGTERM".formatted(patienceSeconds));
    }
    for (SoakProcess node : List.of(a, b)) {
      node.signal("TERM");
      if (!node.ends(patienceSeconds) || node.code() != 0) {
        problems.add("node %s did not end in order".formatted(node.name()));
      }
    }
    coordinator.ends(patienceSeconds);
    kill();
    return problems;
  }

  /** Children must not outlive their agents. */
  List<Long> survivors() {
    return members().stream().flatMap(member -> member.survivors().stream()).toList();
  }

  void kill() {
    members().forEach(SoakProcess::kill);
  }
}
