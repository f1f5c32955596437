package io.troupe.cluster.gpu;

import java.time.Instant;
import java.util.Optional;

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
}
