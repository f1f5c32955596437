package io.troupe.cluster.gpu;

import java.io.IOException;
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

  /**
   * Whether it still runs. One that nobody has waited for is listed, as a zombie, for as long as
   * its parent wants; it holds nothing once its last thread is gone.
   */
  boolean runs() {
    if (find().filter(ProcessHandle::isAlive).isEmpty()) {
      return false;
    }
    Path own = Path.of("/proc", Long.toString(pid));
    try (Stream<Path> threads = Files.list(own.resolve("task"))) {
      String stat = Files.readString(own.resolve("stat"));
      return !stat.startsWith("Z", stat.lastIndexOf(')') + 2) || threads.count() > 1;
    } catch (IOException noLinux) {
      return find().filter(ProcessHandle::isAlive).isPresent();
    }
  }
}
