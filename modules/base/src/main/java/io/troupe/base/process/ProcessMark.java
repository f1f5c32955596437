package io.troupe.base.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Finds the processes that a process has started, by a mark in the environment that its children
 * inherit. A child that was started while its parent was killed, or whose parent ended by itself,
 * is no descendant any more, and still holds the pipes that this process reads.
 *
 * <p>Marks are nested: the mark of a group begins with the mark of the JVM that started it, which
 * begins with the mark that the JVM itself carries. So the end of a group is also the end of the
 * groups that its processes have started.
 *
 * <p>The mark works only where {@code /proc} shows environments; a child with another environment
 * is not found. A process shows no environment during an exec, so it is checked again.
 *
 * @param mark unique to a group
 */
record ProcessMark(String mark) {
  private static final String NAME = "TROUPE_PROCESS_MARK";
  private static final Path PROC = Path.of("/proc");

  /** The beginning of every mark that this JVM creates. */
  private static final String OF_THIS_JVM = inherited() + UUID.randomUUID();

  /**
   * Marked processes may start others during the search; after this many rounds the search ends.
   */
  private static final int ROUNDS = 20;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  // Fields of /proc/PID/stat, counted from the end of the name; man 5 proc.
  private static final int STATE = 0;
  private static final int FLAGS = 6;
  private static final long KERNEL_THREAD = 0x0020_0000;

  private static String inherited() {
    String own = System.getenv().getOrDefault(NAME, "");
    return own.matches("[0-9a-f/-]+") ? own + "/" : "";
  }

  /** A mark of its own. */
  static ProcessMark create() {
    return new ProcessMark(OF_THIS_JVM + "/" + UUID.randomUUID());
  }

  /** Whether marks can be found on this system. */
  static boolean isSupported() {
    return Files.isDirectory(PROC.resolve("self"));
  }

  /** The beginning of the variable in the environment of every process that this JVM has marked. */
  static String variableOfThisJvm() {
    return NAME + "=" + OF_THIS_JVM;
  }

  /** Makes a process and its children carry the mark. */
  ProcessBuilder put(ProcessBuilder builder) {
    builder.environment().put(NAME, mark);
    return builder;
  }

  /** Makes a process carry no mark. */
  static ProcessBuilder remove(ProcessBuilder builder) {
    builder.environment().remove(NAME);
    return builder;
  }

  /** Whether a process carries the mark. */
  enum MarkState {
    OURS,
    OTHERS,
    /** The environment is empty: the process is in an exec, or has no environment. */
    NOTHING
  }

  /** Kills every process that carries the mark. */
  void kill() {
    for (int round = 0; round < ROUNDS; round++) {
      Search search = search();
      if (search.found().isEmpty() && !search.incomplete()) {
        return;
      }
      search.found().forEach(ProcessHandle::destroyForcibly);
      if (search.incomplete()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** Returns the processes that carry the mark. */
  List<ProcessHandle> find() {
    return search().found();
  }

  /**
   * The result of one look at all processes.
   *
   * @param incomplete whether a process showed no environment, which may carry the mark
   */
  private record Search(List<ProcessHandle> found, boolean incomplete) {}

  private Search search() {
    List<ProcessHandle> found = new ArrayList<>();
    boolean incomplete = false;
    if (isSupported()) {
      for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
        switch (readMark(process)) {
          case OURS -> found.add(process);
          case NOTHING -> incomplete = true;
          case OTHERS -> {}
        }
      }
    }
    return new Search(found, incomplete);
  }

  private MarkState readMark(ProcessHandle process) {
    Path told = PROC.resolve(Long.toString(process.pid()));
    try {
      byte[] environment = Files.readAllBytes(told.resolve("environ"));
      MarkState says =
          readMark(
              environment, environment.length > 0 ? "" : Files.readString(told.resolve("stat")));
      return says == MarkState.NOTHING && isOlder(process) ? MarkState.OTHERS : says;
    } catch (IOException notOurs) {
      return MarkState.OTHERS; // another user's process, or gone
    }
  }

  /**
   * Reads the mark from what Linux shows of a process; without an environment, only from its {@code
   * stat} line.
   */
  MarkState readMark(byte[] environment, String stat) {
    if (environment.length > 0) {
      String variable = NAME + "=" + mark;
      return Arrays.stream(new String(environment, StandardCharsets.UTF_8).split("\0", -1))
              .anyMatch(each -> each.equals(variable) || each.startsWith(variable + "/"))
          ? MarkState.OURS
          : MarkState.OTHERS;
    }
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
    boolean over = fields[STATE].startsWith("Z") || fields[STATE].startsWith("X");
    boolean ofTheKernel = (Long.parseLong(fields[FLAGS]) & KERNEL_THREAD) != 0;
    return over || ofTheKernel ? MarkState.OTHERS : MarkState.NOTHING;
  }

  /** Whether a process is older than this process, so that this process cannot have started it. */
  private static boolean isOlder(ProcessHandle process) {
    Optional<Instant> own = ProcessHandle.current().info().startInstant();
    Optional<Instant> its = process.info().startInstant();
    return own.isPresent() && its.isPresent() && its.get().isBefore(own.get());
  }
}
