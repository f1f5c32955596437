package io.troupe.base.files;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A directory with everything below it. */
public final class FileTree {
  private FileTree() {}

  /**
   * Deletes a file, or a directory and everything below it. Symbolic links are deleted, never
   * followed. A file that is absent, or that another process deletes meanwhile, counts as deleted.
   *
   * @throws IOException if something is left
   */
  public static void delete(Path root) throws IOException {
    Files.walkFileTree(root, new Deletion());
  }

  /**
   * Replaces a directory by another one on the same file system, which takes its name. Between the
   * two steps neither directory has the name.
   *
   * @param target need not exist
   */
  public static void replace(Path target, Path by) throws IOException {
    delete(target);
    DurableFiles.rename(by, target);
  }

  /**
   * Returns the regular files below a directory, sorted. A symbolic link to a file counts; one to a
   * directory is not followed.
   *
   * @throws NoSuchFileException if the directory is absent, or another process deletes one of its
   *     files meanwhile
   */
  public static List<Path> files(Path root) throws IOException {
    return files(root, file -> true);
  }

  /**
   * Returns the regular files below a directory that are wanted, sorted. Other files may come and
   * go meanwhile, such as the temporary file of {@link AtomicFile}.
   *
   * @throws NoSuchFileException if the directory is absent, or another process deletes a wanted
   *     file meanwhile
   */
  public static List<Path> files(Path root, Predicate<Path> wanted) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            boolean regular =
                attributes.isRegularFile()
                    || (attributes.isSymbolicLink() && Files.isRegularFile(file));
            if (regular && wanted.test(file)) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof NoSuchFileException
                && !file.equals(root)
                && !wanted.test(file)) {
              return FileVisitResult.CONTINUE;
            }
            throw failure;
          }
        });
    found.sort(Comparator.naturalOrder());
    return found;
  }

  private static final class Deletion extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      if (failure instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw failure;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      Optional<IOException> unread = Optional.ofNullable(failure);
      if (unread.isPresent() && !(unread.get() instanceof NoSuchFileException)) {
        throw unread.get();
      }
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
