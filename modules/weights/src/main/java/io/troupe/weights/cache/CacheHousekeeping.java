package io.troupe.weights.cache;

import io.troupe.base.files.FileTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of a cache between two versions, on a thread of its own: it deletes versions that are
 * too old, and makes memory for the version that comes next ({@link SpareFolder}).
 */
final class CacheHousekeeping implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CacheHousekeeping.class);

  private final long reserveBytes;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> Thread.ofPlatform().daemon().name("weights-housekeeping").unstarted(task));
  private final ReentrantLock lock = new ReentrantLock();
  private Optional<SpareFolder> spare = Optional.empty();
  private boolean wanted;
  private boolean closed;

  /**
   * Makes a housekeeping whose thread starts with its first task.
   *
   * @param reserveBytes that stay free
   */
  CacheHousekeeping(long reserveBytes) {
    this.reserveBytes = reserveBytes;
  }

  private interface Task {
    void run() throws IOException;
  }

  private void later(Path what, Task task) {
    lock.lock();
    try {
      if (!closed) {
        thread.execute(() -> tried(what, task));
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs a task whose failure costs room or time, and no version: the next opening deletes its
   * remains.
   */
  private static void tried(Path what, Task task) {
    try {
      task.run();
    } catch (IOException failure) {
      LOG.warn("event=cache_housekeeping_failed folder={} reason=\"{}\"", what, failure.toString());
    }
  }

  /** Deletes a folder that is out of use. */
  void delete(Path directory) {
    later(directory, () -> FileTree.delete(directory));
  }

  /**
   * Makes memory for the version after this one, if there is room for it beside the kept versions.
   *
   * @param directory that it is made in, of the same root
   */
  void prepare(CachedVersion latest, Path directory) {
    want(true);
    later(
        directory,
        () -> {
          Path root = directory.resolveSibling("");
          if (SpareFolder.isOfUseIn(root)
              && FreeSpace.of(root) - reserveBytes >= latest.ref().bytes()) {
            SpareFolder folder = SpareFolder.create(directory, latest.manifest().files());
            if (hold(folder)) {
              folder.fill();
            } else {
              folder.delete();
            }
          }
        });
  }

  private void want(boolean wanted) {
    lock.lock();
    try {
      this.wanted = wanted;
    } finally {
      lock.unlock();
    }
  }

  /** Keeps a folder, unless the cache is closed; returns whether the folder is kept. */
  private boolean hold(SpareFolder folder) {
    lock.lock();
    try {
      spare = wanted ? Optional.of(folder) : Optional.empty();
      return wanted;
    } finally {
      lock.unlock();
    }
  }

  private Optional<SpareFolder> released() {
    lock.lock();
    try {
      Optional<SpareFolder> held = spare;
      spare = Optional.empty();
      wanted = false;
      return held;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives the memory that was made ahead to a version.
   *
   * @param name of its folder; what has that name is deleted
   * @return the folder; empty if none is ready whose files have these names and sizes
   */
  Optional<Path> spareFor(VersionManifest manifest, String name) throws IOException {
    Optional<SpareFolder> held = released();
    if (held.isEmpty()) {
      return Optional.empty();
    }
    if (!held.get().fits(manifest)) {
      held.get().delete();
      return Optional.empty();
    }
    return Optional.of(held.get().take(name));
  }

  /** Deletes the spare folder and waits for all deletions: the room is free then. */
  void freeRoom() throws IOException {
    deleteSpare();
    try {
      CompletableFuture.runAsync(() -> {}, thread).join();
    } catch (RejectedExecutionException closed) {
      throw new IOException("the run is over here", closed);
    }
  }

  private void deleteSpare() throws IOException {
    Optional<SpareFolder> held = released();
    if (held.isPresent()) {
      held.get().delete();
    }
  }

  /** Ends the deletions that were asked for, and leaves no spare folder. */
  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    deleteSpare();
    thread.close();
  }
}
