package io.troupe.tasks.fetch;

import io.troupe.base.files.FileTree;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A folder of fetched data sets, which all runs of a machine share.
 *
 * <p>A split is complete if and only if its folder holds the completion marker and every file that
 * the marker names has the size that the marker names. A split appears atomically: one process
 * fetches the files into a folder of its own, writes the marker last, and renames the folder. A
 * lock file keeps two processes from fetching the same split; the process that waited finds it
 * complete. A folder without a whole marker, left by a crash or another program, is replaced.
 */
public final class DataCache {
  /**
   * The completion marker: the size and name of each file, one a line: {@code 4711
   * data/train.parquet}.
   */
  static final String MARKER = ".complete";

  private static final ConcurrentHashMap<Path, Lock> LOCKS = new ConcurrentHashMap<>();

  private final Path root;
  private final List<DataOrigin> origins;
  private final Consumer<String> say;

  /**
   * Creates a cache in a folder, which need not exist yet.
   *
   * @param origins asked one after the other for a split that is not in the cache
   * @param say tells the user what the cache waits for
   */
  public DataCache(Path root, List<DataOrigin> origins, Consumer<String> say) {
    this.say = say;
    this.root = root.toAbsolutePath().normalize();
    this.origins = List.copyOf(origins);
  }

  /**
   * Returns the folder of a split, and fetches the split if it is not in the cache.
   *
   * @throws TaskDataException if no origin has the split; the message names the places searched and
   *     how to add the split by hand
   * @throws IOException if the cache cannot be written
   */
  public Path folder(SplitRef wanted) throws IOException {
    Path folder = root.resolve(wanted.folder());
    if (isWhole(folder)) {
      return folder;
    }
    if (origins.isEmpty()) {
      throw nowhere(wanted, folder, List.of());
    }
    Files.createDirectories(folder.getParent());
    Lock within = LOCKS.computeIfAbsent(folder, _ -> new ReentrantLock());
    Path lock = folder.resolveSibling(folder.getFileName() + ".lock");
    if (!within.tryLock()) {
      say.accept("%s is being fetched by this process; waiting for it".formatted(wanted));
      within.lock();
    }
    try (FileChannel file =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = locked(file, wanted, lock)) {
      if (!isWhole(folder)) {
        fetch(wanted, folder);
      }
      return folder;
    } finally {
      within.unlock();
    }
  }

  private FileLock locked(FileChannel file, SplitRef wanted, Path lock) throws IOException {
    Optional<FileLock> free = Optional.ofNullable(file.tryLock());
    if (free.isEmpty()) {
      say.accept(
          "%s is being fetched by another process, which has %s locked; waiting for it"
              .formatted(wanted, lock));
    }
    return free.isPresent() ? free.get() : file.lock();
  }

  private void fetch(SplitRef wanted, Path folder) throws IOException {
    List<String> failures = new ArrayList<>();
    for (DataOrigin origin : origins) {
      Path part = Files.createTempDirectory(folder.getParent(), folder.getFileName() + ".part-");
      try {
        if (!origin.fetch(wanted, part)) {
          failures.add(origin.place(wanted) + ": not there");
        } else if (sizes(part).isEmpty()) {
          failures.add(origin.place(wanted) + ": there, but without data files");
        } else {
          Files.write(part.resolve(MARKER), sizes(part));
          FileTree.replace(folder, part);
          return;
        }
      } catch (IOException e) {
        failures.add("%s: %s".formatted(origin.place(wanted), reason(e)));
      } finally {
        FileTree.delete(part);
      }
    }
    throw nowhere(wanted, folder, failures);
  }

  private static String reason(IOException failure) {
    return failure.getMessage() == null
        ? failure.getClass().getSimpleName()
        : failure.getClass().getSimpleName() + " " + failure.getMessage();
  }

  private static TaskDataException nowhere(SplitRef wanted, Path folder, List<String> failures) {
    StringBuilder text = new StringBuilder("data set %s is not to be had:".formatted(wanted));
    text.append("\n  %s: not in the cache".formatted(folder));
    failures.forEach(failure -> text.append("\n  ").append(failure));
    if (failures.isEmpty()) {
      text.append("\n  nowhere else: data.hub is false, and data.s3_folder names no place");
    }
    return new TaskDataException(
        text.append(
                "\nfetch its files by hand where there is a network, and name their folder in"
                    + " task.file")
            .toString());
  }

  static boolean isWhole(Path folder) throws IOException {
    Path marker = folder.resolve(MARKER);
    if (!Files.isRegularFile(marker)) {
      return false;
    }
    List<String> lines = Files.readAllLines(marker);
    for (String line : lines) {
      int space = line.indexOf(' ');
      Path file = folder.resolve(line.substring(space + 1));
      if (space < 1
          || !Files.isRegularFile(file)
          || !line.substring(0, space).equals(Long.toString(Files.size(file)))) {
        return false;
      }
    }
    return !lines.isEmpty();
  }

  private static List<String> sizes(Path folder) throws IOException {
    List<String> sizes = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        sizes.add(Files.size(file) + " " + folder.relativize(file).toString().replace('\\', '/'));
      }
    }
    return sizes;
  }
}
