package io.troupe.base.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process for certain. A pid alone is not: the kernel gives it to another one later.
 *
 * @param start when it began
 */
public record ProcessIdentity(long pid, Instant start) {
  /** A process that is there. */
  public static Optional<ProcessIdentity> of(ProcessHandle process) {
    return process.info().startInstant().map(start -> new ProcessIdentity(process.pid(), start));
  }

  /** The process with this identity, if it is still there. */
  public Optional<ProcessHandle> find() {
    return ProcessHandle.of(pid).filter(process -> of(process).filter(this::equals).isPresent());
  }

  /** Whether it still runs, in the sense of {@link #runs(ProcessHandle)}. */
  public boolean runs() {
    return find().filter(ProcessIdentity::runs).isPresent();
  }

  /**
   * Whether a process runs. The system lists a process that nobody has waited for, a zombie, for as
   * long as its parent wants: an orphan's parent is the first process of a container, which may
   * wait for nobody. Such a process holds nothing.
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
   * Whether a process runs by what Linux says of it. The first thread of a process is a zombie as
   * soon as it has ended, while others, such as one that an accelerator's driver holds, may run on.
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
