package io.troupe.verifiers.code;

/** The end of a program's process, or that it was running until its tests were done. */
sealed interface ProgramExit {
  /** The process answered every test. */
  record Answered() implements ProgramExit {}

  /** The process ended before it was stopped; a negative status is the number of a signal. */
  record Exited(int status) implements ProgramExit {}

  /** The process was killed at its time limit. */
  record OutOfTime() implements ProgramExit {}

  /** The process was killed for the memory that it and its children used. */
  record OutOfMemory() implements ProgramExit {}

  /** A description for a person. */
  default String describe(CodeLimits limits) {
    return switch (this) {
      case Answered _ -> "it broke off its answers";
      case Exited(int status) when status < 0 -> "killed by signal " + -status;
      case Exited(int status) -> "it ended itself with status " + status;
      case OutOfTime _ -> "timeout after %s s".formatted(seconds(limits));
      case OutOfMemory _ -> "more than %d MB of memory".formatted(limits.memoryBytes() >> 20);
    };
  }

  private static String seconds(CodeLimits limits) {
    double seconds = limits.wall().toMillis() / 1e3;
    return seconds == Math.rint(seconds) ? Long.toString((long) seconds) : Double.toString(seconds);
  }
}
