package io.troupe.weights.cache;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock by which one process owns a folder; the system releases it when the process dies.
 *
 * <p>A process that opens and closes a file which it has locked loses the lock, so what this
 * process holds is known without a look at the file.
 */
final class FolderOwnership implements AutoCloseable {
  static final String LOCK = "owner.lock";

  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path mark;
  private final FileChannel channel;

  private FolderOwnership(Path mark, FileChannel channel) {
    this.mark = mark;
    this.channel = channel;
  }

  /**
   * Takes a folder.
   *
   * @param advice what the user may do where another owner has it
   * @throws IOException if it has an owner, or cannot be written
   */
  static FolderOwnership take(Path folder, String advice) throws IOException {
    Path mark = key(folder.resolve(LOCK));
    if (!HELD.add(mark)) {
      throw owned(mark, advice);
    }
    boolean taken = false;
    try {
      FileChannel channel =
          FileChannel.open(mark, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        channel.close();
        throw owned(mark, advice);
      }
      taken = true;
      return new FolderOwnership(mark, channel);
    } finally {
      if (!taken) {
        HELD.remove(mark);
      }
    }
  }

  private static FileSystemException owned(Path mark, String advice) {
    return new FileSystemException(mark.toString(), null, advice);
  }

  /** Returns whether this process owns the folder with this mark. */
  static boolean isHeldHere(Path mark) {
    return HELD.contains(key(mark));
  }

  private static Path key(Path mark) {
    return mark.toAbsolutePath().normalize();
  }

  @Override
  public void close() throws IOException {
    channel.close();
    HELD.remove(mark);
  }
}
