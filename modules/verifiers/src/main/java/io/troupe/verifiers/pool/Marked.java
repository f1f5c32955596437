package io.troupe.verifiers.pool;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * Finds what a process has started by a mark in the environment that its children inherit. One that
 * was started while its parent was killed, or before the parent ended by itself, is nobody's
 * descendant any more, and holds the pipes that somebody reads.
 *
 * <p>Only where {@code /proc} shows environments; a child that was given another environment is not
 * found.
 *
 * @param mark of this process alone
 */
record Marked(String mark) {
  private static final String NAME = "TROUPE_VERIFIER";
  private static final Path PROC = Path.of("/proc");

  /** Those that are found may start others meanwhile; what goes on for so long is let be. */
  private static final int ROUNDS = 20;

  static Marked anew() {
    return new Marked(UUID.randomUUID().toString());
  }

  /** Has a process and its children carry the mark. */
  ProcessBuilder put(ProcessBuilder builder) {
    builder.environment().put(NAME, mark);
    return builder;
  }

  /** Kills all that carry it. */
  void kill() {
    List<ProcessHandle> found = alive();
    for (int round = 0; round < ROUNDS && !found.isEmpty(); round++) {
      found.forEach(ProcessHandle::destroyForcibly);
      found = alive();
    }
  }

  private List<ProcessHandle> alive() {
    return Files.isDirectory(PROC)
        ? ProcessHandle.allProcesses().filter(process -> carries(process.pid())).toList()
        : List.of();
  }

  private boolean carries(long pid) {
    try {
      byte[] environment = Files.readAllBytes(PROC.resolve(pid + "/environ"));
      String variable = NAME + "=" + mark;
      return Arrays.asList(new String(environment, StandardCharsets.UTF_8).split("\0", -1))
          .contains(variable);
    } catch (IOException notOurs) {
      return false; // another user's, or gone
    }
  }
}
