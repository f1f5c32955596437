package io.troupe.store.folder;

import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.LockedFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;

/**
 * The right to coordinate a run: a file of the run folder that one process at a time has locked. It
 * is what decides between the sides of a cluster that has come apart, since all of them see the
 * same file, and the operating system takes it from a process that is dead.
 *
 * <p>A server of network files also takes it from a living process that it has not heard for a
 * while (90 s, with NFS 4), and does not say so. So who takes it signs beside it, and {@link
 * #confirm} looks whether the signature still is this process's own before anything that cannot be
 * undone.
 *
 * <p>It is not the lock of the journal, because a process may have to hold it before it knows
 * whether it will write: one that waits to become the coordinator takes it first.
 */
public final class RunLease implements Closeable {
  private static final String NAME = "lease";
  private static final String HOLDER = "lease-holder";
  private static final String UNKNOWN = "an unknown process";

  private final Path folder;
  private final String me;
  private Optional<LockedFile> lock = Optional.empty();
  private boolean closed;

  /**
   * The lease of a run, not yet taken.
   *
   * @param where this process can be found, such as its host's address
   */
  public RunLease(RunFolder run, String where) {
    this.folder = run.path().resolve("cluster");
    this.me =
        "process %d at %s%n%s%n".formatted(ProcessHandle.current().pid(), where, UUID.randomUUID());
  }

  /**
   * Whether this process holds the lease, as it knows without looking; {@link #confirm} looks. An
   * action that cannot be undone asks {@code confirm}.
   */
  public synchronized boolean held() {
    return lock.isPresent();
  }

  /**
   * Looks whether this process still has it; if not, it has lost it for good. May block, as file
   * systems of a network do.
   *
   * @throws IOException if that cannot be found out now
   */
  public synchronized boolean confirm() throws IOException {
    if (lock.isPresent() && !Files.readString(folder.resolve(HOLDER)).equals(me)) {
      close();
    }
    return lock.isPresent();
  }

  /**
   * Takes it, unless another one has it. May block, as file systems of a network do.
   *
   * @return whether this process has it now
   * @throws IOException if the file cannot be opened or locked
   */
  public synchronized boolean take() throws IOException {
    if (lock.isEmpty() && !closed) {
      Files.createDirectories(folder);
      Optional<LockedFile> taken = LockedFile.tryLock(folder, NAME);
      if (taken.isPresent()) {
        sign(taken.get());
      }
      lock = taken;
    }
    return lock.isPresent();
  }

  /** Beside the lock and not in it: reading a locked file can lose the lock. */
  private void sign(LockedFile taken) throws IOException {
    boolean signed = false;
    try {
      AtomicFile.replace(folder.resolve(HOLDER), me);
      signed = true;
    } finally {
      if (!signed) {
        taken.close();
      }
    }
  }

  /** The process that took it last, as an operator reads it; it may have ended since. */
  public String holder() {
    try {
      return Files.readString(folder.resolve(HOLDER)).lines().findFirst().orElse(UNKNOWN);
    } catch (IOException absent) {
      return UNKNOWN;
    }
  }

  /** Gives the lease up for good. */
  @Override
  public synchronized void close() throws IOException {
    closed = true;
    if (lock.isPresent()) {
      lock.get().close();
      lock = Optional.empty();
    }
  }
}
