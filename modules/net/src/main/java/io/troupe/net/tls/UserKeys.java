package io.troupe.net.tls;

import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The keys by which the processes of one user know each other on the loopback interface. They are
 * made by the first process that needs them and lie in a folder that only this user can read, so
 * that who shows their certificate is this user, whatever port it comes from.
 *
 * <pre>
 *   STATE/troupe/          mode 0700, of this user, no link
 *   STATE/troupe/keys/     an authority that {@link CertificateAuthority} made, with one host
 *   STATE/troupe/keys.lock held while the keys are looked for and made
 * </pre>
 */
public final class UserKeys {
  private static final String HOST = "loopback";
  private static final List<String> ADDRESSES = List.of("localhost", "127.0.0.1");

  /**
   * A user's key is valid for as long as the authority's own: like a key of ssh, it is as safe as
   * its folder is private.
   */
  private static final int DAYS = 3650;

  private static final Duration RENEWED_BEFORE = Duration.ofDays(30);

  /**
   * The lock between threads of this process; the operating system's lock holds between processes.
   */
  private static final Object HERE = new Object();

  private UserKeys() {}

  /**
   * Finds the keys, or makes them.
   *
   * @param state the user's folder for what programs keep: {@code ~/.local/state}
   * @throws IOException if they cannot be kept private there; says why and what to do
   */
  public static HostKeys in(Path state) throws IOException {
    Path own = state.toAbsolutePath().resolve("troupe");
    try {
      PrivateFiles.ownFolder(own);
      synchronized (HERE) {
        try (FileChannel file =
                FileChannel.open(
                    own.resolve("keys.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock _ = file.lock()) {
          return foundOrMade(own);
        }
      }
    } catch (IOException failure) {
      throw new IOException(
          "this user's keys for processes on loopback: %s (folder %s; XDG_STATE_HOME names another one, or --tls keys of your own)"
              .formatted(failure.getMessage(), own),
          failure);
    }
  }

  private static HostKeys foundOrMade(Path own) throws IOException {
    Path keys = own.resolve("keys");
    if (Files.isDirectory(keys)) {
      HostKeys found = found(keys);
      if (Instant.now().plus(RENEWED_BEFORE).isBefore(found.until())) {
        return found;
      }
    }
    Path made = own.resolve("keys.new");
    FileTree.delete(made); // of a process that ended before it was done
    HostKeys _ = CertificateAuthority.init(made, HOST).issue(HOST, ADDRESSES, DAYS);
    FileTree.replace(keys, made);
    return HostKeys.in(CertificateAuthority.folder(keys, HOST));
  }

  private static HostKeys found(Path keys) throws IOException {
    try {
      return HostKeys.in(CertificateAuthority.folder(keys, HOST));
    } catch (IOException damaged) {
      throw new IOException(
          "%s; remove %s, and they are made again".formatted(damaged.getMessage(), keys), damaged);
    }
  }

  /**
   * The user's folder for what programs keep, after the XDG Base Directory Specification.
   *
   * @param xdgStateHome the environment's {@code XDG_STATE_HOME}; "" if it has none
   * @param home the user's; "" if there is none
   * @throws IOException if the user has neither
   */
  public static Path state(String xdgStateHome, String home) throws IOException {
    Path given = Path.of(xdgStateHome);
    if (given.isAbsolute()) {
      return given;
    }
    Path place = Path.of(home);
    if (!place.isAbsolute()) {
      throw new IOException(
          "this user has no home folder for the keys of its processes; set XDG_STATE_HOME to a"
              + " folder of this user, or give --tls");
    }
    return place.resolve(".local").resolve("state");
  }
}
