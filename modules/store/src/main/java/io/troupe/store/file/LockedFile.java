package io.troupe.store.file;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file that this process has locked: the operating system releases it when the process ends,
 * however it ends.
 *
 * <p>On POSIX systems a process that opens and closes a locked file through another descriptor
 * loses the lock; so a file that this process has locked is refused before it is opened again, and
 * nothing else may be read from it.
 */
public final class LockedFile implements Closeable {
  private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

  private final Path key;
  private final FileChannel channel;

  private LockedFile(Path key, FileChannel channel) {
    this.key = key;
    this.channel = channel;
  }

  /**
   * Locks a file of an existing folder; empty when this or another process has it.
   *
   * @throws IOException if it cannot be opened, or its file system has no locks
   */
  public static Optional<LockedFile> tryLock(Path folder, String name) throws IOException {
    Path key = folder.toRealPath().resolve(name);
    if (!HELD_HERE.add(key)) {
      return Optional.empty();
    }
    Optional<FileChannel> locked = Optional.empty();
    try {
      locked = open(key);
    } finally {
      if (locked.isEmpty()) {
        HELD_HERE.remove(key);
      }
    }
    return locked.map(channel -> new LockedFile(key, channel));
  }

  private static Optional<FileChannel> open(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      locked = channel.tryLock() != null;
      return locked ? Optional.of(channel) : Optional.empty();
    } catch (OverlappingFileLockException here) {
      return Optional.empty();
    } catch (IOException unsupported) {
      throw DiskFailureException.explain(
          "lock a file (does its file system support locks?)", file, unsupported);
    } finally {
      if (!locked) {
        channel.close();
      }
    }
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      HELD_HERE.remove(key);
    }
  }
}
