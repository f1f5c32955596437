package io.troupe.cluster.ranks;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** What a trainer has saved, on its way to a rank of another host: the files of a folder. */
final class SavedState {
  private SavedState() {}

  /** Its files, relative to the folder. */
  static List<String> files(Path folder) throws IOException {
    try (Stream<Path> entries = Files.walk(folder)) {
      return entries
          .filter(Files::isRegularFile)
          .map(file -> folder.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  /** Sends files; {@link #take} on the other side. */
  static void send(RankLine line, Path folder, List<String> files) throws IOException {
    for (String file : files) {
      try (FileChannel content = FileChannel.open(folder.resolve(file))) {
        line.say(content);
      }
    }
  }

  /** Takes files into a folder that is empty. */
  static void take(RankLine line, Path folder, List<String> files) throws IOException {
    for (String file : files) {
      Path target = folder.resolve(file).normalize();
      if (!target.startsWith(folder)) {
        throw new IOException("the file %s is not in its folder".formatted(file));
      }
      Files.createDirectories(target.resolveSibling("."));
      try (FileChannel content = FileChannel.open(target, CREATE_NEW, WRITE)) {
        line.hear(content);
      }
    }
  }

  /** Deletes a folder with all it holds. */
  static void delete(Path folder) throws IOException {
    try (Stream<Path> entries = Files.walk(folder)) {
      for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(entry);
      }
    }
  }
}
