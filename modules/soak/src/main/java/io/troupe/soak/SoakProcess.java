package io.troupe.soak;

import io.troupe.base.process.ProcessGroup;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process that an operator would start, the coordinator or a node agent, and those it has
 * started. All it prints is appended to one log.
 */
final class SoakProcess {
  private final String name;
  private final Path folder;
  private final Path log;
  private final Map<Long, ProcessHandle> everSeen = new HashMap<>();
  private Optional<ProcessGroup> group = Optional.empty();
  private long logAtStart;
  private long endedAt;

  SoakProcess(String name, Path folder) {
    this.name = name;
    this.folder = folder;
    this.log = folder.resolve(name + ".log");
  }

  /** Starts the process. */
  void start(ProcessBuilder builder) throws IOException {
    logAtStart = Files.exists(log) ? Files.size(log) : 0;
    endedAt = 0;
    group =
        Optional.of(
            ProcessGroup.start(
                builder
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))));
  }

  private Optional<Process> process() {
    return group.map(ProcessGroup::leader);
  }

  String name() {
    return name;
  }

  boolean isAlive() {
    return process().filter(Process::isAlive).isPresent();
  }

  /** Returns the exit code of an ended process. */
  int code() {
    return process().orElseThrow().exitValue();
  }

  /** Returns the pid of the process, or of the last one; 0 before the first. */
  long pid() {
    return process().map(Process::pid).orElse(0L);
  }

  /** The process itself, while it lives. */
  Stream<ProcessHandle> handle() {
    return process().filter(Process::isAlive).map(Process::toHandle).stream();
  }

  /** Returns the time since which the process has been seen to be dead. */
  long endedAt(long now) {
    if (endedAt == 0) {
      endedAt = now;
    }
    return endedAt;
  }

  /** Processes it has started, whose command line holds a text, in order of those. */
  List<ProcessHandle> children(String part) {
    if (!isAlive()) {
      return List.of();
    }
    List<ProcessHandle> all =
        process()
            .orElseThrow()
            .children()
            .filter(child -> !commandLine(child).contains(ProcessGroup.GUARD))
            .toList();
    all.forEach(child -> everSeen.put(child.pid(), child));
    return all.stream()
        .filter(child -> commandLine(child).contains(part))
        .sorted(Comparator.comparing(SoakProcess::commandLine))
        .toList();
  }

  private static String commandLine(ProcessHandle process) {
    return process.info().commandLine().orElse("");
  }

  /** Returns the pids of all children so far that still run. */
  List<Long> survivors() {
    return everSeen.values().stream()
        .filter(ProcessHandle::isAlive)
        .map(ProcessHandle::pid)
        .toList();
  }

  /** Whether the process has printed a text since its last start. */
  boolean said(String text) throws IOException {
    return holds(log, logAtStart, text);
  }

  /** Whether a log has a text behind a position. */
  static boolean holds(Path log, long from, String text) throws IOException {
    if (!Files.exists(log)) {
      return false;
    }
    try (SeekableByteChannel file = Files.newByteChannel(log)) {
      file.position(from);
      return new String(Channels.newInputStream(file).readAllBytes(), StandardCharsets.UTF_8)
          .contains(text);
    }
  }

  void signal(String name) throws IOException, InterruptedException {
    if (isAlive()) {
      signal(pid(), name);
    }
  }

  /** Sends a signal by its name, such as TERM; a process that is gone gets none. */
  static void signal(long pid, String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  /** Whether the process ends within a time. */
  boolean ends(long seconds) throws InterruptedException {
    return process().isEmpty() || process().get().waitFor(seconds, TimeUnit.SECONDS);
  }

  void kill() {
    process().ifPresent(Process::destroyForcibly);
  }
}
