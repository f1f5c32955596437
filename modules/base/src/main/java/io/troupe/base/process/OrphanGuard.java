package io.troupe.base.process;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Kills the process groups of this JVM when the JVM ends, however it ends.
 *
 * <p>The guard is a shell in a session of its own, one for a JVM. It reads a pipe from the JVM,
 * which closes with the JVM, and then kills every process that carries the JVM's mark until it
 * finds none in three looks: a process that is about to become another program shows no mark. A
 * guard that ends before the JVM is replaced.
 */
final class OrphanGuard {
  private static final String SCRIPT =
      """
      while read -r _; do :; done
      looks=0
      rounds=0
      while [ $looks -lt 3 ] && [ $rounds -lt 100 ]; do
        looks=$((looks + 1))
        rounds=$((rounds + 1))
        for file in $(grep -lsz "^$1/" /proc/[0-9]*/environ); do
          process=${file#/proc/}
          kill -KILL "${process%/environ}" && looks=0
        done
        sleep 0.1
      done
      """;

  private static Optional<Process> shell = Optional.empty(); // guarded by the class

  private OrphanGuard() {}

  /** Starts the guard of this JVM if none runs. */
  static synchronized void ensure() throws IOException {
    if (!ProcessMark.isSupported() || shell.filter(Process::isAlive).isPresent()) {
      return;
    }
    ProcessBuilder builder =
        new ProcessBuilder(
                ProcessGroup.inSession(
                    List.of(
                        "/bin/sh",
                        "-c",
                        SCRIPT,
                        ProcessGroup.GUARD,
                        ProcessMark.variableOfThisJvm())))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    ProcessMark.remove(builder).environment().put("LC_ALL", "C");
    Process started = builder.start();
    shell = Optional.of(started);
    var _ = started.onExit().thenRun(OrphanGuard::replace);
  }

  private static void replace() {
    try {
      ensure();
    } catch (IOException impossible) {
      // The next start of a group tries again, and fails with what is wrong.
    }
  }
}
