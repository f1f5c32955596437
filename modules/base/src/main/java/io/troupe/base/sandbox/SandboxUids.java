package io.troupe.base.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The user ids under which root starts sandboxes: ids without files, without names, and outside the
 * ranges that systemd, containers and {@code /etc/subuid} allocate (systemd.io/UIDS-GIDS). Each
 * worker has its own id, so that its limit on processes is its own too.
 */
public final class SandboxUids {
  /** The most workers of a user. */
  public static final int MOST_WORKERS = 1_000;

  private static final int FIRST = 70_000;
  private static final int COUNT = MOST_WORKERS;

  /**
   * For a container that maps only 65,536 ids; with more workers than there are ids, some workers
   * share one.
   */
  private static final int FIRST_OF_SMALL_MAP = 60_706;

  private static final int COUNT_OF_SMALL_MAP = 478;

  private SandboxUids() {}

  /**
   * The user id of a worker; none if this process does not run as root.
   *
   * @param index from 0
   */
  public static OptionalInt of(int index) throws IOException {
    return isRoot()
        ? OptionalInt.of(of(index, Files.readString(Path.of("/proc/self/uid_map"))))
        : OptionalInt.empty();
  }

  private static boolean isRoot() {
    try {
      return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * The user id of a worker.
   *
   * @param index from 0
   * @param uidMap content of {@code /proc/self/uid_map}
   */
  static int of(int index, String uidMap) {
    return uidMap.lines().anyMatch(SandboxUids::holdsAll)
        ? FIRST + index
        : FIRST_OF_SMALL_MAP + index % COUNT_OF_SMALL_MAP;
  }

  private static boolean holdsAll(String line) {
    long[] range = Stream.of(line.strip().split("\\s+", -1)).mapToLong(Long::parseLong).toArray();
    return range[0] <= FIRST && range[0] + range[2] >= FIRST + COUNT;
  }
}
