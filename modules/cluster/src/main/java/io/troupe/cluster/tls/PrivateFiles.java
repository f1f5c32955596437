package io.troupe.cluster.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;

/** Files that only their owner may read. */
final class PrivateFiles {
  private static final Set<PosixFilePermission> OWNER_FILE =
      PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> OWNER_FOLDER =
      PosixFilePermissions.fromString("rwx------");
  private static final int PASSWORD_BYTES = 24;

  private PrivateFiles() {}

  static Path folder(Path path) throws IOException {
    Files.createDirectories(path, PosixFilePermissions.asFileAttribute(OWNER_FOLDER));
    return path;
  }

  /** Writes a file that nobody else could read at any moment. */
  static void write(Path file, byte[] content) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_FILE));
    Files.write(file, content, StandardOpenOption.WRITE);
  }

  static void close(Path file) throws IOException {
    Files.setPosixFilePermissions(file, OWNER_FILE);
  }

  /** A new random password in a file of its own. */
  static void password(Path file) throws IOException {
    byte[] random = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(random);
    write(file, HexFormat.of().formatHex(random).getBytes(StandardCharsets.US_ASCII));
  }

  static char[] readPassword(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.US_ASCII).strip().toCharArray();
  }

  /**
   * Refuses a file that others can read.
   *
   * @throws IOException if they can; says what to do
   */
  static void requirePrivate(Path file) throws IOException {
    Set<PosixFilePermission> open = EnumSet.copyOf(Files.getPosixFilePermissions(file));
    open.removeAll(OWNER_FILE);
    if (!open.isEmpty()) {
      throw new IOException(
          "%s can be read by others (%s); anybody who did may join the cluster: chmod 600 it, and issue the certificate anew"
              .formatted(file, PosixFilePermissions.toString(Files.getPosixFilePermissions(file))));
    }
  }
}
