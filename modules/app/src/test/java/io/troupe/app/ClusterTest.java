package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.app.audit.JournalAudit;
import io.troupe.core.run.Event;
import io.troupe.core.run.Phase;
import io.troupe.store.JournalReader;
import io.troupe.store.RunFolder;
import io.troupe.store.RunJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run over real JVMs, of which some are killed; it goes on by itself. The longer one takes
 * minutes on a busy machine, so it runs on demand: {@code ./troupe test -pl modules/app -am
 * -Dtest=ClusterTest -DargLine=-Dtroupe.cluster.tests=true
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
final class ClusterTest {
  private static final String RUN =
      TestRuns.TOY.replace("token_delay: 1ms", "token_delay: 10ms")
          + """
          cluster:
            worker_heap: 96
            head_heap: 128
            drain_timeout: 20s
          """;

  private static final Pattern HEAD = Pattern.compile("head at (\\S+)");
  private static final long PATIENCE_MILLIS = 300_000;
  private static final long LOOK_AGAIN_MILLIS = 100;

  @TempDir private Path folder;

  /** The losses fall together: what is left is a minority of what was there. */
  @Test
  void run_headAndWorkerKilledAtOnce_goesOnAndItsAccountAddsUp() throws Exception {
    try (ChildRun head = head();
        ChildRun a = node(seed(head), "a", "node,coordinator")) {
      RunFolder run = TestRuns.only(folder);
      await(a, "the worker has a lease", () -> granted(run, "a-w1"));
      await(a, "the standby is there", () -> log("a", run, "a-head").contains("head at"));

      int atKill = events(run).size();
      long killed = System.nanoTime();
      child(a, "a-w1").destroyForcibly();
      head.kill();
      await(
          a,
          "another head goes on",
          () -> after(run, atKill, event -> event instanceof Event.StepTrained));
      tell("a run made a step after its head and its worker were killed", killed);
      end(a, run, atKill);
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
  void run_workerThenNodeThenHeadKilled_goesOnAndItsAccountAddsUp() throws Exception {
    try (ChildRun head = head();
        ChildRun a = node(seed(head), "a", "node,coordinator");
        ChildRun b = node(seed(head), "b", "node")) {
      RunFolder run = TestRuns.only(folder);
      await(a, "both workers have leases", () -> granted(run, "a-w1") && granted(run, "b-w1"));
      await(a, "the standby is there", () -> log("a", run, "a-head").contains("head at"));

      ProcessHandle worker = child(b, "b-w1");
      int before = events(run).size();
      long killed = System.nanoTime();
      worker.destroyForcibly();
      await(b, "a new b-w1 has a lease", () -> grantedAfter(run, before, "b-w1"));
      tell("a killed worker was back at work", killed);

      List<ProcessHandle> orphans = b.children();
      b.kill();
      orphans.forEach(orphan -> orphan.onExit().join());

      int atKill = events(run).size();
      killed = System.nanoTime();
      head.kill();
      await(
          a,
          "another head goes on",
          () -> after(run, atKill, event -> event instanceof Event.StepTrained));
      tell("a killed head's run made a step", killed);
      end(a, run, atKill);
      a.signal("TERM");
      assertThat(a.awaitExit()).as(a.said()).isZero();
    }
  }

  /** Ends the run by SIGTERM to its second head, and looks at what the two have written. */
  private static void end(ChildRun node, RunFolder run, int atKill) throws Exception {
    child(node, "--standby").destroy();
    await(node, "the run ends", () -> after(run, atKill, event -> event instanceof Event.RunEnded));
    RunHistory history = RunHistory.replay(run, 1);
    assertThat(history.resumes()).isPositive();
    assertThat(history.state().phase()).isInstanceOf(Phase.Ended.class);
    assertThat(JournalAudit.of(run).report().sound()).isTrue();
  }

  private ChildRun head() throws IOException {
    return ChildRun.start(
        folder,
        ChildRun.Size.TOY,
        "train",
        TestRuns.write(folder, RUN),
        "--cluster",
        "--json",
        "--set",
        "training.steps=100000");
  }

  private ChildRun node(String seed, String name, String roles) throws IOException {
    return ChildRun.start(
        folder,
        ChildRun.Size.TOY,
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
        "nodes");
  }

  private static String seed(ChildRun head) {
    Matcher line = HEAD.matcher(head.awaitErr("head at"));
    assertThat(line.find()).isTrue();
    return line.group(1);
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  /** Waits for something that shows in files only, as long as a process lives. */
  private static void await(ChildRun process, String what, Condition condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("%s; %s", what, process.said()).isLessThan(deadline);
      assertThat(process.survives(LOOK_AGAIN_MILLIS)).as("%s; %s", what, process.said()).isTrue();
    }
  }

  private static List<Event> events(RunFolder run) throws IOException {
    List<Event> events = new ArrayList<>();
    try (JournalReader reader = JournalReader.open(run.journal())) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        events.addAll(RunJson.events(next.get().payload()));
      }
    }
    return events;
  }

  private static boolean granted(RunFolder run, String worker) throws IOException {
    return grantedAfter(run, 0, worker);
  }

  private static boolean grantedAfter(RunFolder run, int count, String worker) throws IOException {
    List<String> known =
        events(run).stream().limit(count).flatMap(event -> holder(event, worker).stream()).toList();
    return after(
        run, count, event -> holder(event, worker).filter(one -> !known.contains(one)).isPresent());
  }

  private static Optional<String> holder(Event event, String worker) {
    return event instanceof Event.LeaseGranted(var _, var id, var _, var _)
            && id.value().startsWith(worker)
        ? Optional.of(id.value())
        : Optional.empty();
  }

  private static boolean after(RunFolder run, int count, Predicate<Event> wanted)
      throws IOException {
    return events(run).stream().skip(count).anyMatch(wanted);
  }

  private String log(String node, RunFolder run, String process) throws IOException {
    Path file = folder.resolve("nodes").resolve(node).resolve(run.name()).resolve(process + ".log");
    return Files.exists(file) ? Files.readString(file) : "";
  }

  private static ProcessHandle child(ChildRun node, String name) {
    return node.children().stream()
        .filter(child -> child.info().commandLine().orElse("").contains(name))
        .findFirst()
        .orElseThrow();
  }

  private static void tell(String what, long since) {
    System.out.printf("%s after %.1f s%n", what, (System.nanoTime() - since) / 1e9);
  }
}
