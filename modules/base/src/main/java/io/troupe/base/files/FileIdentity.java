package io.troupe.base.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/** Tells whether a name still is the name of the same file or directory. */
public final class FileIdentity {
  private FileIdentity() {}

  /**
   * Returns the identity of what has a name now; empty if nothing has. Two identities are equal if
   * they are of one file, whatever its name. On a file system without identities every file of a
   * name counts as the same.
   */
  public static Optional<Object> of(Path file) throws IOException {
    try {
      Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
      return Optional.of(key == null ? file : key);
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    }
  }
}
