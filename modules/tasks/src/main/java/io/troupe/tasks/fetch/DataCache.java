package io.troupe.tasks.fetch;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.cache.SharedFolders;
import io.troupe.base.files.FileTree;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A folder of fetched data sets, which all runs of a machine share.
 *
 * <p>A split appears atomically: one process, by {@link SharedFolders}, fetches the files into a
 * folder of its own, writes the {@link CompletionMarker} last, and renames the folder. A folder
 * without a whole marker, left by a crash or another program, is replaced.
 */
public final class DataCache {
  private final Path root;
  private final List<DataOrigin> origins;
  private final SharedFolders shared;

  /**
   * Creates a cache in a folder, which need not exist yet.
   *
   * @param origins asked one after the other for a split that is not in the cache
   * @param say shows the user what the cache waits for
   */
  public DataCache(Path root, List<DataOrigin> origins, Consumer<String> say) {
    this.shared = new SharedFolders("fetched", say);
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
    if (CompletionMarker.isWhole(folder)) {
      return folder;
    }
    if (origins.isEmpty()) {
      throw nowhere(wanted, folder, List.of());
    }
    return shared.get(folder, wanted.toString(), () -> fetch(wanted, folder));
  }

  private void fetch(SplitRef wanted, Path folder) throws IOException {
    List<String> failures = new ArrayList<>();
    for (DataOrigin origin : origins) {
      Path part = Files.createTempDirectory(folder.getParent(), folder.getFileName() + ".part-");
      try {
        if (!origin.fetch(wanted, part)) {
          failures.add(origin.place(wanted) + ": not there");
        } else if (CompletionMarker.write(part) == 0) {
          failures.add(origin.place(wanted) + ": there, but without data files");
        } else {
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
}
