package io.troupe.engine.http.sidecar;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A child process with all that came of it. Where {@code setsid} exists the child leads a process
 * group of its own, so that those whose parent is dead are found too; elsewhere its descendants are
 * known as far as they were seen alive.
 *
 * <p>A card in a file tells pid and start of a child: a later process ends what an earlier one,
 * killed, has left, and never another process that was given the same pid.
 */
final class ProcessTree {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessTree.class);
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final Duration RELEASE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(200);

  private final ProcessHandle leader;
  private final Path card;
  private final Set<ProcessHandle> seen = new LinkedHashSet<>();

  private ProcessTree(ProcessHandle leader, Path card) {
    this.leader = leader;
    this.card = card;
    seen.add(leader);
  }

  /** Starts a child; its output goes to a file. */
  static ProcessTree start(ServerCommand command, Path log, Path card) throws IOException {
    List<String> words = new ArrayList<>(command.words());
    if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
      words.add(0, "/usr/bin/setsid");
    }
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(command.environment());
    ProcessHandle child = builder.start().toHandle();
    Files.writeString(card, cardOf(child), StandardCharsets.UTF_8);
    return new ProcessTree(child, card);
  }

  private static String cardOf(ProcessHandle child) {
    return "%d %d%n"
        .formatted(child.pid(), child.info().startInstant().map(Instant::toEpochMilli).orElse(0L));
  }

  /** Ends what a card tells of, if it still runs. */
  static void endLeftOver(Path card) throws IOException, InterruptedException {
    if (!Files.exists(card)) {
      return;
    }
    String text = Files.readString(card, StandardCharsets.UTF_8);
    Optional<ProcessHandle> left = Optional.empty();
    try {
      left =
          ProcessHandle.of(Long.parseLong(text.strip().split(" ", -1)[0]))
              .filter(handle -> cardOf(handle).strip().equals(text.strip()));
    } catch (NumberFormatException cutOff) {
      LOG.warn("card={} is unreadable and removed", card);
    }
    if (left.isPresent()) {
      LOG.warn("pid={} is left from an earlier process and ended", left.get().pid());
      new ProcessTree(left.get(), card).end();
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

  /** Notes who is there now; who loses its parent is known by this. */
  void look() {
    leader.descendants().forEach(seen::add);
  }

  /** Ends all of it: asked first, then made to; returns when accelerators have let go of it. */
  void end() throws InterruptedException, IOException {
    look();
    leader.destroy();
    if (!awaitExit(leader, GRACE)) {
      look();
    }
    signalGroup();
    for (ProcessHandle one : seen) {
      one.descendants().forEach(ProcessHandle::destroyForcibly);
      one.destroyForcibly();
    }
    for (ProcessHandle one : seen) {
      awaitExit(one, GRACE);
    }
    awaitRelease();
    Files.deleteIfExists(card);
  }

  private static boolean awaitExit(ProcessHandle one, Duration patience)
      throws InterruptedException {
    try {
      one.onExit().get(patience.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException stays) {
      return !one.isAlive();
    }
  }

  /** The group has the leader's number, and outlives it. */
  private void signalGroup() throws InterruptedException {
    if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
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
    String pids = run(List.of("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"));
    return pids.lines()
        .map(String::strip)
        .anyMatch(pid -> seen.stream().anyMatch(one -> Long.toString(one.pid()).equals(pid)));
  }

  /** What a tool of the system prints; nothing where it is not there. */
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
