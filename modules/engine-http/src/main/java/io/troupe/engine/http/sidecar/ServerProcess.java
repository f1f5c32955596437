package io.troupe.engine.http.sidecar;

import io.troupe.base.files.FileTree;
import io.troupe.base.process.ChildLog;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.ProcessIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The process group of an inference server, and its log. */
final class ServerProcess {
  private static final Logger LOG = LoggerFactory.getLogger(ServerProcess.class);
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final Duration RELEASE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration LOOK_FOR_END = Duration.ofMillis(10);
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  private final ProcessGroup group;
  private final ChildLog log;
  private final Path sockets;
  private final SharedMemory shared = new SharedMemory(); // guarded by this

  private ServerProcess(ProcessGroup group, ChildLog log, Path sockets) {
    this.group = group;
    this.log = log;
    this.sockets = sockets;
  }

  /** Starts a server; its output goes to a log. */
  static ServerProcess start(ServerCommand command, Path log) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command.words())
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().remove("PYTHONDONTWRITEBYTECODE"); // each start would compile all again
    builder.environment().putAll(command.environment());
    Path sockets = Files.createTempDirectory("troupe-");
    builder.environment().put(ServerCommand.SOCKETS, sockets.toString());
    try {
      ProcessGroup group = ProcessGroup.start(builder);
      return new ServerProcess(group, ChildLog.of(group, log), sockets);
    } catch (IOException cannot) {
      FileTree.delete(sockets);
      throw cannot;
    }
  }

  /** Notes what the server shares with the host now, to remove it after the server's end. */
  synchronized void noteShared() {
    shared.note(group.members());
  }

  long pid() {
    return group.leader().pid();
  }

  boolean alive() {
    return group.leader().isAlive();
  }

  CompletableFuture<Process> onExit() {
    return group.leader().onExit();
  }

  /**
   * Ends the whole group, first with a request and then by force; returns when accelerators have
   * released its memory.
   */
  synchronized void end() throws InterruptedException {
    Set<ProcessHandle> members = new HashSet<>(group.members());
    shared.note(members);
    group.leader().destroy();
    awaitExit(group.leader().toHandle(), GRACE);
    members.addAll(group.members());
    group.kill();
    for (ProcessHandle member : members) {
      awaitExit(member, GRACE);
    }
    awaitRelease(members);
    shared.remove();
    try {
      FileTree.delete(sockets);
    } catch (IOException stays) {
      LOG.warn("sockets={} of an ended server stay: {}", sockets, stays.getMessage());
    }
    log.awaitEnd(LAST_OUTPUT);
  }

  /**
   * Waits for an exit. {@link ProcessHandle#onExit} would check a process that is no child of this
   * one only every 300 ms, and then less and less often; the server does not sample until its
   * weights have changed.
   */
  private static void awaitExit(ProcessHandle one, Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (ProcessIdentity.runs(one) && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(LOOK_FOR_END.toMillis());
    }
  }

  private static void awaitRelease(Set<ProcessHandle> members) throws InterruptedException {
    Set<String> pids =
        members.stream().map(one -> Long.toString(one.pid())).collect(Collectors.toSet());
    long end = System.nanoTime() + RELEASE.toNanos();
    while (onAccelerators().lines().map(String::strip).anyMatch(pids::contains)
        && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(LOOK.toMillis());
    }
  }

  /**
   * The processes that occupy accelerators, a pid a line; empty if {@code nvidia-smi} is absent.
   */
  private static String onAccelerators() throws InterruptedException {
    try {
      Process tool =
          new ProcessBuilder(
                  List.of("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"))
              .redirectErrorStream(true)
              .start();
      byte[] out = tool.getInputStream().readNBytes(1 << 20);
      tool.waitFor();
      return new String(out, StandardCharsets.UTF_8);
    } catch (IOException absent) {
      return "";
    }
  }
}
