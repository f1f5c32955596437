package io.troupe.engine.http.sidecar;

import io.troupe.base.process.ChildLog;
import io.troupe.base.process.PipedChild;
import io.troupe.base.process.ProcessIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A child process with all its descendants. Where {@code setsid} exists the child leads its own
 * process group, so that processes whose parent has died are found too; elsewhere only the
 * descendants that were seen alive are known.
 *
 * <p>One process of the group reads a pipe from this process and kills the group when the pipe
 * closes; the pipe closes however this process ends. A pid file holds pid and start time of child
 * and descendants: a later process ends what the group kill missed, and never another process that
 * was given the same pid.
 */
final class ProcessTree {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessTree.class);
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final Duration RELEASE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration LOOK_FOR_END = Duration.ofMillis(10);
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);
  private static final Path SETSID = Path.of("/usr/bin/setsid");

  /**
   * Executes its arguments with an empty standard input; a background process waits for the end of
   * the pipe.
   */
  private static final String LEASH =
      "exec 3<&0 </dev/null; (while read -r line; do :; done <&3; kill -KILL 0) & exec \"$@\" 3<&-";

  private final ProcessHandle leader;
  private final Path card;
  private final Set<ProcessHandle> knownProcesses = new LinkedHashSet<>();
  private final Set<Long> pids = new LinkedHashSet<>();

  /** Holds the pipe open; empty for a tree that another process started. */
  private final Optional<Process> held;

  private final Optional<ChildLog> log;

  private ProcessTree(
      ProcessHandle leader, Path card, Optional<Process> held, Optional<ChildLog> log) {
    this.leader = leader;
    this.card = card;
    this.held = held;
    this.log = log;
    add(leader);
  }

  private void add(ProcessHandle one) {
    knownProcesses.add(one);
    pids.add(one.pid());
  }

  /** Starts a child; its output goes to a log. */
  static ProcessTree start(ServerCommand command, Path log, Path card) throws IOException {
    List<String> words = new ArrayList<>();
    boolean leashed = Files.isExecutable(SETSID);
    if (leashed) {
      words.addAll(List.of(SETSID.toString(), "/bin/sh", "-c", LEASH, "leash"));
    }
    words.addAll(command.words());
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectInput(
                leashed
                    ? ProcessBuilder.Redirect.PIPE
                    : ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().putAll(command.environment());
    PipedChild piped = PipedChild.start(builder);
    Process child = piped.process();
    ProcessTree tree =
        new ProcessTree(
            child.toHandle(), card, Optional.of(child), Optional.of(ChildLog.of(piped, log)));
    try {
      tree.note();
    } catch (IOException unwritable) {
      child.destroyForcibly(); // without a pid file a later process could not identify it
      throw unwritable;
    }
    return tree;
  }

  private void note() throws IOException {
    PidFile.of(leader, knownProcesses).write(card);
  }

  /**
   * Ends the processes of a pid file that still run.
   *
   * @param anyOwner whether to end them even if the process that started them runs
   */
  static void endLeftOver(Path card, boolean anyOwner) throws IOException, InterruptedException {
    Optional<PidFile> read = PidFile.read(card);
    if (read.isEmpty()) {
      LOG.warn("card={} is unreadable and removed", card);
      Files.deleteIfExists(card);
      return;
    }
    PidFile told = read.get();
    if (!anyOwner && told.ownerRuns()) {
      return;
    }
    List<ProcessHandle> left = told.left();
    if (!left.isEmpty()) {
      LOG.warn(
          "pids={} are left from an earlier process and ended",
          left.stream().map(ProcessHandle::pid).toList());
      ProcessTree tree = new ProcessTree(left.getFirst(), card, Optional.empty(), Optional.empty());
      left.forEach(tree::add);
      tree.end();
    }
    Files.deleteIfExists(card);
  }

  long pid() {
    return leader.pid();
  }

  boolean alive() {
    return leader.isAlive();
  }

  CompletableFuture<ProcessHandle> onExit() {
    return leader.onExit();
  }

  /**
   * Records the running descendants; a process that loses its parent is later found by this record.
   */
  synchronized void look() {
    int before = knownProcesses.size();
    leader.descendants().forEach(this::add);
    if (knownProcesses.size() > before && leader.isAlive()) {
      try {
        note();
      } catch (IOException unwritable) {
        LOG.warn("card={} lacks descendants: {}", card, unwritable.getMessage());
      }
    }
  }

  /**
   * Ends the whole tree, first with a request and then by force; returns when accelerators have
   * released its memory.
   */
  synchronized void end() throws InterruptedException, IOException {
    look();
    leader.destroy();
    if (!awaitExit(leader, GRACE)) {
      look();
    }
    signalGroup();
    for (ProcessHandle one : knownProcesses) {
      one.descendants().forEach(ProcessHandle::destroyForcibly);
      one.destroyForcibly();
    }
    for (ProcessHandle one : knownProcesses) {
      awaitExit(one, GRACE);
    }
    awaitRelease();
    if (held.isPresent()) {
      held.get().getOutputStream().close();
    }
    Files.deleteIfExists(card);
    log.ifPresent(last -> last.awaitEnd(LAST_OUTPUT));
  }

  /**
   * Waits for an exit. {@link ProcessHandle#onExit} would check a process that is no child of this
   * one only every 300 ms, and then less and less often; the server does not sample until its
   * weights have changed.
   */
  private static boolean awaitExit(ProcessHandle one, Duration patience)
      throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (ProcessIdentity.runs(one) && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(LOOK_FOR_END.toMillis());
    }
    return !ProcessIdentity.runs(one);
  }

  /** Sends a signal to the group. Its id is the leader's pid, and the group outlives the leader. */
  private void signalGroup() throws InterruptedException {
    if (Files.isExecutable(SETSID)) {
      run(List.of("kill", "-KILL", "--", "-" + leader.pid()));
    }
  }

  private void awaitRelease() throws InterruptedException {
    long end = System.nanoTime() + RELEASE.toNanos();
    while (occupiesAccelerator() && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(LOOK.toMillis());
    }
  }

  private boolean occupiesAccelerator() throws InterruptedException {
    String holders =
        run(List.of("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"));
    return holders
        .lines()
        .map(String::strip)
        .anyMatch(pid -> pids.stream().anyMatch(one -> Long.toString(one).equals(pid)));
  }

  /** The output of a system tool; empty if the tool does not exist. */
  private static String run(List<String> words) throws InterruptedException {
    try {
      Process tool = new ProcessBuilder(words).redirectErrorStream(true).start();
      byte[] out = tool.getInputStream().readNBytes(1 << 20);
      tool.waitFor();
      return new String(out, StandardCharsets.UTF_8);
    } catch (IOException absent) {
      return "";
    }
  }
}
