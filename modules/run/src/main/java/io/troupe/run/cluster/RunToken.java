package io.troupe.run.cluster;

import io.troupe.base.files.AtomicFile;
import io.troupe.net.secret.RunSecret;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A text in the run folder that the coordinator sends to every node: a host that reads the same one
 * sees the same folder, and not another one of the same path.
 */
public final class RunToken {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private RunToken() {}

  private static Path file(Path folder) {
    return folder.resolve("cluster").resolve("token");
  }

  /** The token of a folder, written by the first process that asks. */
  public static String of(RunFolder folder) throws IOException {
    Files.createDirectories(folder.path().resolve("cluster"));
    return AtomicFile.once(
        file(folder.path()), () -> UUID.randomUUID().toString(), UUID_TEXT.asMatchPredicate());
  }

  /**
   * The secret that the run's processes prove to each other, written by the first process that asks
   * and read by each later coordinator; only the owner of the folder can read it.
   */
  public static String secret(RunFolder folder) throws IOException {
    Path file = Files.createDirectories(folder.path().resolve("cluster")).resolve("secret");
    return AtomicFile.once(
        file,
        () -> RunSecret.random().hex(),
        RunSecret::isHex,
        PosixFilePermissions.asFileAttribute(OWNER_ONLY));
  }

  /**
   * Checks that this host sees the folder of the coordinator.
   *
   * @throws IOException if it does not; says what to do
   */
  static void check(String token, Path folder) throws IOException {
    Path file = file(folder);
    boolean same = Files.isReadable(file) && Files.readString(file).equals(token);
    if (!same) {
      throw new IOException(
          "the run folder %s is not the coordinator's on this host: %s. Put run.folder on a file system that all hosts"
                  .formatted(
                      folder,
                      Files.exists(file)
                          ? "its cluster/token is another one"
                          : "there is no cluster/token in it")
              + " mount at the same path");
    }
  }
}
