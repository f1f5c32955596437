package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.Announcements;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Phase;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.JournalReader;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A coordinator and nodes as real processes, and what their run's folder says of them. */
final class TestCluster {
  /** A run of the table policy that is slow enough for a cluster. */
  static final String RUN =
      TestRuns.TOY.replace("token_delay: 1ms", "token_delay: 100ms")
          + """
          cluster:
            worker_heap: 96
            coordinator_heap: 128
            drain_timeout: 20s
          """;

  /** The decoder on PyTorch, with two workers and two trainer ranks. */
  static final String DECODER =
      TestRuns.DJL
          + """
          cluster:
            worker_heap: 192
          placement:
            nodes: 1
            gpus_per_node: 4
            trainer_ranks: 2
            ranks_as: children
            rollout_workers: 2
          """;

  /** The table policy, judged by a program that a worker starts. */
  static String withVerifiers(Path folder) throws IOException {
    Path program =
        Files.writeString(
            folder.resolve("verifier.py"),
            """
            import json
            import sys

            print(json.dumps({"ready": True}), flush=True)
            for line in sys.stdin:
                asked = json.loads(line)
                odd = sum(map(ord, asked["completion"])) % 2
                print(json.dumps({"seq": asked["seq"], "reward": float(odd)}), flush=True)
            """);
    return RUN
        + """
        verifier:
          workers: 1
          rewards:
            - source: arithmetic
              verifier: command
              options: ["run=python3 -u %s"]
        """
            .formatted(program);
  }

  private static final Pattern COORDINATOR =
      Pattern.compile(Announcements.COORDINATOR_AT + "(\\S+)");
  private static final long PATIENCE_MILLIS = 300_000;
  private static final long LOOK_AGAIN_MILLIS = 100;

  private final Path folder;
  private final String yaml;

  TestCluster(Path folder, String yaml) {
    this.folder = folder;
    this.yaml = yaml;
  }

  ChildRun coordinator(ChildRun.Place place, String... options) throws IOException {
    return ChildRun.start(
        place, folder, ChildRun.Size.TOY, coordinatorArguments(folder, yaml, options));
  }

  ChildRun node(ChildRun.Place place, String seed, String name, String roles, String... options)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "node",
                "--seed",
                seed,
                "--name",
                name,
                "--workers",
                "1",
                "--roles",
                roles,
                "--data",
                "nodes"));
    arguments.addAll(List.of(options));
    return ChildRun.start(place, folder, ChildRun.Size.TOY, arguments.toArray(String[]::new));
  }

  /** Returns the configuration by which a node's processes work. */
  String configurationAt(String node) throws IOException {
    return Files.readString(
        folder.resolve("nodes").resolve(node).resolve(run().name()).resolve("resolved.yaml"));
  }

  /** A coordinator in a folder of its own, of a run that continues until it is ended. */
  static ChildRun coordinatorIn(Path home, String yaml, String... options) throws IOException {
    Files.createDirectories(home);
    return ChildRun.start(home, ChildRun.Size.TOY, coordinatorArguments(home, yaml, options));
  }

  private static String[] coordinatorArguments(Path home, String yaml, String... options)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "train",
                TestRuns.write(home, yaml),
                "--cluster",
                "--json",
                "--set",
                "training.steps=100000"));
    arguments.addAll(List.of(options));
    return arguments.toArray(String[]::new);
  }

  /** Returns the arguments of a node that works in a folder of its own. */
  static String[] nodeArguments(String name, String address, String seed, String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("node", "--seed", seed, "--address", address, "--name", name));
    arguments.addAll(List.of(options));
    return arguments.toArray(String[]::new);
  }

  /** A node in a folder of its own. */
  static ChildRun nodeIn(Path home, String name, String address, String seed, String... options)
      throws IOException {
    return ChildRun.start(
        Files.createDirectories(home),
        ChildRun.Size.TOY,
        nodeArguments(name, address, seed, options));
  }

  /** Returns the address at which others find a coordinator. */
  static String seed(ChildRun coordinator) {
    Matcher line = COORDINATOR.matcher(coordinator.awaitErr(Announcements.COORDINATOR_AT));
    assertThat(line.find()).isTrue();
    return line.group(1);
  }

  RunFolder run() throws IOException {
    return TestRuns.only(folder);
  }

  /** A condition that shows in files only. */
  interface Condition {
    boolean holds() throws IOException;
  }

  /** Waits for it, as long as a process lives. */
  static void await(ChildRun process, String what, Condition condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("%s; %s", what, process.said()).isLessThan(deadline);
      assertThat(process.survives(LOOK_AGAIN_MILLIS)).as("%s; %s", what, process.said()).isTrue();
    }
  }

  /** Waits until a worker has the first lease of a life that has none among the first events. */
  void awaitWork(ChildRun process, int count, String worker)
      throws IOException, InterruptedException {
    await(process, worker + " has a lease", () -> grantedAfter(count, worker));
  }

  void awaitStandby(ChildRun node, String name) throws IOException, InterruptedException {
    await(
        node,
        "the standby is there",
        () -> log(name, name + "-standby").contains(Announcements.COORDINATOR_AT));
  }

  /** Waits for a step beyond the first events. */
  void awaitStep(ChildRun process, int count) throws IOException, InterruptedException {
    await(
        process,
        "the run continues",
        () -> happenedAfter(count, event -> event instanceof Event.StepTrained));
  }

  List<Event> events() throws IOException {
    List<Event> events = new ArrayList<>();
    try (JournalReader reader = JournalReader.open(run().journal())) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        events.addAll(RunJson.events(next.get().payload()));
      }
    }
    return events;
  }

  boolean grantedAfter(int count, String worker) throws IOException {
    List<String> known =
        events().stream().limit(count).flatMap(event -> holder(event, worker).stream()).toList();
    return happenedAfter(
        count, event -> holder(event, worker).filter(one -> !known.contains(one)).isPresent());
  }

  private static Optional<String> holder(Event event, String worker) {
    return event instanceof Event.LeaseGranted(var _, var id, var _, var _)
            && id.value().startsWith(worker)
        ? Optional.of(id.value())
        : Optional.empty();
  }

  /** The leases of a worker that ended without an answer, with their reasons. */
  List<Event.LeaseEnded> lost(String worker) throws IOException {
    Set<LeaseId> held = new HashSet<>();
    List<Event.LeaseEnded> lost = new ArrayList<>();
    for (Event event : events()) {
      if (event instanceof Event.LeaseGranted(var lease, var id, var _, var _)
          && id.value().startsWith(worker)) {
        held.add(lease);
      }
      if (event instanceof Event.LeaseEnded end && held.contains(end.lease())) {
        lost.add(end);
      }
    }
    return lost;
  }

  boolean happenedAfter(int count, Predicate<Event> wanted) throws IOException {
    return events().stream().skip(count).anyMatch(wanted);
  }

  /** Returns the output of a node's process. */
  String log(String node, String process) throws IOException {
    Path file =
        folder.resolve("nodes").resolve(node).resolve(run().name()).resolve(process + ".log");
    return Files.exists(file) ? Files.readString(file) : "";
  }

  static ProcessHandle child(ChildRun node, String name) {
    return node.children().stream()
        .filter(child -> child.info().commandLine().orElse("").contains(name))
        .findFirst()
        .orElseThrow();
  }

  /** kill -9 of an agent; returns when its children have followed it. */
  static void killWithChildren(ChildRun node) {
    List<ProcessHandle> orphans = node.children();
    assertThat(orphans).isNotEmpty();
    node.kill();
    orphans.forEach(orphan -> orphan.onExit().join());
  }

  /** Ends the run by SIGTERM to a coordinator, and looks at what all of them have written. */
  void end(ChildRun watched, Runnable terminate, int count, boolean resumed) throws Exception {
    terminate.run();
    await(
        watched,
        "the run ends",
        () -> happenedAfter(count, event -> event instanceof Event.RunEnded));
    RunHistory history = RunHistory.replay(run(), 1);
    assertThat(history.resumes() > 0).as("%d resumes", history.resumes()).isEqualTo(resumed);
    assertThat(history.state().phase()).isInstanceOf(Phase.Ended.class);
    audit();
  }

  /** Whether the journal keeps what every run promises. */
  void audit() throws IOException {
    JournalAudit.Result audit = JournalAudit.of(run());
    assertThat(audit.report().sound()).as(audit.report().violations().toString()).isTrue();
  }

  static void tell(String what, long since) {
    System.out.printf("%s after %.1f s%n", what, (System.nanoTime() - since) / 1e9);
  }
}
