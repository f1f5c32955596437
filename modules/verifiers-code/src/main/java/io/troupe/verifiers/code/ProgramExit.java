package io.troupe.verifiers.code;

/** How a program's process ended, or that it did not before its tests were done. */
sealed interface ProgramExit {
  /** It answered to the last. */
  record Answered() implements ProgramExit {}

  /** By itself; the status is negative for the number of a signal. */
  record Exited(int status) implements ProgramExit {}

  /** It was killed when its time was up. */
  record OutOfTime() implements ProgramExit {}

  /** It was killed for the memory it took with its children. */
  record OutOfMemory() implements ProgramExit {}

  /** For a person. */
  default String describe(SandboxSettings limits) {
    return switch (this) {
      case Answered _ -> "it broke off its answers";
      case Exited(int status) when status < 0 -> "killed by signal " + -status;
      case Exited(int status) -> "it ended itself with status " + status;
      case OutOfTime _ -> "timeout after %s s".formatted(seconds(limits));
      case OutOfMemory _ -> "more than %d MB of memory".formatted(limits.memoryBytes() >> 20);
    };
  }

  private static String seconds(SandboxSettings limits) {
    double seconds = limits.wall().toMillis() / 1e3;
    return seconds == Math.rint(seconds) ? Long.toString((long) seconds) : Double.toString(seconds);
  }
}
