package io.troupe.real;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/**
 * The memory of processes as Linux counts it. A page that several of them share counts once, in
 * parts: a server's workers share gigabytes.
 */
final class GroupMemory {
  private static final String SHARE = "Pss:";

  private GroupMemory() {}

  /** Returns the bytes of processes; one that has ended, or cannot be looked at, has none. */
  static long bytes(Collection<ProcessHandle> processes) {
    return processes.stream().mapToLong(process -> bytes(process.pid())).sum();
  }

  private static long bytes(long pid) {
    try {
      return bytes(Files.readAllLines(Path.of("/proc", Long.toString(pid), "smaps_rollup")));
    } catch (IOException gone) {
      return 0;
    }
  }

  /** Returns the bytes that the lines of a {@code smaps_rollup} name. */
  static long bytes(List<String> lines) {
    return lines.stream()
        .filter(line -> line.startsWith(SHARE))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
        .sum();
  }
}
