package io.troupe.cluster.weights;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** Deletion of directories. */
final class Trees {
  private Trees() {}

  /** Deletes a directory and all in it, links never followed; one that is gone is deleted. */
  static void delete(Path root) throws IOException {
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.deleteIfExists(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(
                Path folder, @org.jspecify.annotations.Nullable IOException failure)
                throws IOException {
              if (failure != null) {
                throw failure;
              }
              Files.deleteIfExists(folder);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (NoSuchFileException gone) {
      // Deleted is deleted.
    }
  }
}
