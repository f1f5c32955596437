package io.troupe.weights.cache;

import io.troupe.base.files.FileTree;
import io.troupe.weights.cache.VersionManifest.FilePart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A folder for the next version, with files as long as those of the version before. In a file
 * system in memory, writing spends most of its time on new pages; a spare folder has its pages
 * before the next version comes, which is written over them.
 *
 * <p>Its files were never read: pages of an older version would not do, because a process that has
 * mapped them would see the new numbers.
 */
final class SpareFolder {
  private static final int SLICE = 1 << 20;

  private final Path directory;
  private final List<FilePart> files;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean taken;

  /**
   * Makes the folder, still without files.
   *
   * @param directory that does not exist
   * @param files of the version before
   */
  static SpareFolder create(Path directory, List<FilePart> files) throws IOException {
    return new SpareFolder(Files.createDirectory(directory), files);
  }

  private SpareFolder(Path directory, List<FilePart> files) {
    this.directory = directory;
    this.files = files;
  }

  /** Returns whether the files of a root's file system are in memory, where a spare saves time. */
  static boolean isOfUseIn(Path root) throws IOException {
    return Files.getFileStore(root).type().equals("tmpfs");
  }

  /** Writes the files, until the folder is taken. Blocks. */
  void fill() throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(SLICE);
    for (FilePart file : files) {
      fill(directory.resolve(file.name()), file.bytes(), zeros);
    }
  }

  private void fill(Path file, long bytes, ByteBuffer zeros) throws IOException {
    FileChannel channel;
    lock.lock();
    try {
      if (taken) {
        return;
      }
      channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } finally {
      lock.unlock();
    }
    try (channel) {
      long at = 0;
      while (at < bytes) {
        zeros.clear().limit((int) Math.min(SLICE, bytes - at));
        lock.lock();
        try {
          if (taken) {
            return;
          }
          at += channel.write(zeros, at);
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** Returns whether a version has files of the same names and sizes. */
  boolean fits(VersionManifest manifest) {
    return sizes(files).equals(sizes(manifest.files()));
  }

  private record NamedSize(String name, long bytes) {}

  private static List<NamedSize> sizes(List<FilePart> files) {
    return files.stream().map(file -> new NamedSize(file.name(), file.bytes())).toList();
  }

  /** Gives the folder another name, and writes nothing from then on; returns where it is. */
  Path take(String name) throws IOException {
    stop();
    Path target = directory.resolveSibling(name);
    FileTree.delete(target);
    return Files.move(directory, target);
  }

  /** Deletes the folder. */
  void delete() throws IOException {
    stop();
    FileTree.delete(directory);
  }

  private void stop() {
    lock.lock();
    try {
      taken = true;
    } finally {
      lock.unlock();
    }
  }
}
