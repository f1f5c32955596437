package io.troupe.real;

import io.troupe.base.process.ForeignProgram;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A program that is run to its end, or until it passes a limit; all it has started ends with it.
 */
final class BoundedProgram {
  /** How a program ended. */
  sealed interface End {
    /** The end of what the program wrote. */
    String output();
  }

  record Exited(int code, String output) implements End {}

  record TooSlow(Duration limit, String output) implements End {}

  record TooLarge(long bytes, long limit, String output) implements End {}

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(5);
  private static final int LONGEST_LINE = 1 << 20;

  private BoundedProgram() {}

  /**
   * Runs a program.
   *
   * @param variables of its environment, beside the few that every program has
   * @param lines takes each line of its output
   * @throws IOException if it cannot be started
   */
  static End run(
      List<String> command,
      Map<String, String> variables,
      ProgramLimits limits,
      Consumer<String> lines)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + limits.time().toNanos();
    try (ForeignProgram program = ForeignProgram.start(command, variables, LONGEST_LINE, lines)) {
      CompletableFuture<Integer> exit = program.exit().toCompletableFuture();
      while (System.nanoTime() < deadline) {
        long left = Math.min(BETWEEN_LOOKS.toNanos(), deadline - System.nanoTime());
        try {
          int code = exit.get(Math.max(1, left), TimeUnit.NANOSECONDS);
          return new Exited(code, program.lastOutput(LAST_OUTPUT));
        } catch (TimeoutException running) {
          long bytes = GroupMemory.bytes(program.members());
          if (bytes > limits.memory()) {
            return new TooLarge(bytes, limits.memory(), program.lastOutput());
          }
        } catch (ExecutionException impossible) {
          throw new IllegalStateException("the end of a process is not known", impossible);
        }
      }
      return new TooSlow(limits.time(), program.lastOutput());
    }
  }
}
