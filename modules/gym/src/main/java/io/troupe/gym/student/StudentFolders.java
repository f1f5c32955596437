package io.troupe.gym.student;

import io.troupe.engine.djl.checkpoint.ModelDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Copies of checkpoints that answer, without what only a resumed training needs. */
final class StudentFolders {
  private static final List<String> LEFT_OUT = List.of("optimizer.", Students.MANIFEST, ".");

  private StudentFolders() {}

  /**
   * Copies the files of a checkpoint.
   *
   * @param to made if absent
   */
  static void copy(Path from, Path to) throws IOException {
    copy(from, to, name -> true);
  }

  /** Copies the files of a checkpoint that describe its weights. */
  static void copyWithoutWeights(Path from, Path to) throws IOException {
    copy(from, to, name -> !name.contains(".safetensors"));
  }

  private static void copy(Path from, Path to, Predicate<String> taken) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = String.valueOf(file.getFileName());
        if (LEFT_OUT.stream().noneMatch(name::startsWith) && taken.test(name)) {
          Files.copy(file, to.resolve(name));
        }
      }
    }
    for (Path template : ModelDescription.templates(from)) {
      Path copy = to.resolve(from.relativize(template));
      Files.createDirectories(copy.resolveSibling("."));
      Files.copy(template, copy);
    }
  }
}
