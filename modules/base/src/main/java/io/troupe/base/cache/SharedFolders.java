package io.troupe.base.cache;

import io.troupe.base.files.DurableFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Folders that one process makes and every process of the machine uses. A folder is there if and
 * only if {@link CompletionMarker#isWhole}; a lock file beside it keeps two processes from making
 * it at once, and the one that waited finds it whole. The operating system releases the lock of a
 * process that died.
 *
 * @param doing work of a maker on a folder, as a participle for messages: {@code fetched}
 * @param say takes the line of a wait for another process or thread
 */
public record SharedFolders(String doing, Consumer<String> say) {
  /** Makes a folder, marker included, under its lock. */
  @FunctionalInterface
  public interface Maker {
    void make() throws IOException;
  }

  private static final ConcurrentHashMap<Path, Lock> LOCKS = new ConcurrentHashMap<>();

  /**
   * Returns a whole folder, and has it made if it is not there.
   *
   * @param folder absolute; its parent need not exist
   * @param what the folder holds, for messages
   */
  public Path get(Path folder, String what, Maker maker) throws IOException {
    if (CompletionMarker.isWhole(folder)) {
      return folder;
    }
    return remade(
        folder,
        what,
        () -> {
          if (!CompletionMarker.isWhole(folder)) {
            maker.make();
          }
        });
  }

  /** Makes a folder under its lock, whether it is whole or not. */
  public Path remade(Path folder, String what, Maker maker) throws IOException {
    Files.createDirectories(DurableFiles.parent(folder));
    Lock within = LOCKS.computeIfAbsent(folder, _ -> new ReentrantLock());
    Path lock = folder.resolveSibling(folder.getFileName() + ".lock");
    if (!within.tryLock()) {
      say.accept("%s is being %s by this process; waiting for it".formatted(what, doing));
      within.lock();
    }
    try (FileChannel file =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = locked(file, what, lock)) {
      maker.make();
      return folder;
    } finally {
      within.unlock();
    }
  }

  private FileLock locked(FileChannel file, String what, Path lock) throws IOException {
    Optional<FileLock> free = Optional.ofNullable(file.tryLock());
    if (free.isEmpty()) {
      say.accept(
          "%s is being %s by another process, which has %s locked; waiting for it"
              .formatted(what, doing, lock));
    }
    return free.isPresent() ? free.get() : file.lock();
  }
}
