package io.troupe.base.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The identity of a process. A pid alone is not enough, because the kernel gives it to another
 * process later.
 *
 * @param start time at which the process began
 */
public record ProcessIdentity(long pid, Instant start) {
  /** Returns the identity of a running process. */
  public static Optional<ProcessIdentity> of(ProcessHandle process) {
    return process.info().startInstant().map(start -> new ProcessIdentity(process.pid(), start));
  }

  /** Returns the process with this identity, if it still exists. */
  public Optional<ProcessHandle> find() {
    return ProcessHandle.of(pid).filter(process -> of(process).filter(this::equals).isPresent());
  }

  /** Whether the process still runs, in the sense of {@link #runs(ProcessHandle)}. */
  public boolean runs() {
    return find().filter(ProcessIdentity::runs).isPresent();
  }

  /**
   * Whether a process runs. The system lists an ended process, a zombie, until its parent waits for
   * it; the parent of an orphan is the first process of a container, which may never wait. A zombie
   * holds no resources and does not run.
   */
  public static boolean runs(ProcessHandle process) {
    if (!process.isAlive()) {
      return false;
    }
    try {
      return runs(Path.of("/proc", Long.toString(process.pid())));
    } catch (IOException | UncheckedIOException noLinux) {
      return process.isAlive();
    }
  }

  /**
   * Whether a process runs according to Linux. The first thread of a process is a zombie as soon as
   * it has ended, while other threads, such as a thread that the driver of an accelerator holds,
   * may still run.
   *
   * @param directory of the process in {@code /proc}
   */
  static boolean runs(Path directory) throws IOException {
    String stat = Files.readString(directory.resolve("stat"));
    if (!stat.startsWith("Z", stat.lastIndexOf(')') + 2)) {
      return true;
    }
    try (Stream<Path> threads = Files.list(directory.resolve("task"))) {
      return threads.count() > 1;
    }
  }
}
