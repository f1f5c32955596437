package io.troupe.base.cache;

import io.troupe.base.files.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The file that makes a folder whole: it names the size and name of each file of the folder, one a
 * line, such as {@code 4711 data/train.parquet}, and is written last.
 */
public final class CompletionMarker {
  /** The name of the marker within its folder. */
  public static final String NAME = ".complete";

  private CompletionMarker() {}

  /** Whether a folder has a marker, and each file that it names with its size. */
  public static boolean isWhole(Path folder) throws IOException {
    try {
      List<String> lines = Files.readAllLines(folder.resolve(NAME));
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
    } catch (NoSuchFileException absent) {
      return false; // Another process may replace the folder meanwhile.
    }
  }

  /**
   * Writes the marker of the files that a folder has now.
   *
   * @return the number of files; without any, no marker is written
   */
  public static int write(Path folder) throws IOException {
    List<String> sizes = new ArrayList<>();
    for (Path file : FileTree.files(folder)) {
      sizes.add(Files.size(file) + " " + folder.relativize(file).toString().replace('\\', '/'));
    }
    if (!sizes.isEmpty()) {
      Files.write(folder.resolve(NAME), sizes);
    }
    return sizes.size();
  }
}
