package io.troupe.base.process;

/** The exit codes of the program. */
public enum ExitCode {
  OK(0),
  /**
   * All work that was possible is done, but part of the input was bad or could not be judged; for
   * {@code doctor}, something that a run needs is missing.
   */
  INCOMPLETE(1),
  /** The command line or the configuration is wrong; nothing was started. */
  USAGE(2),
  /** The cluster cannot be reached. */
  UNREACHABLE(3),
  /** The run started and could not continue. */
  FAILED(4);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  /** Returns the number that the process exits with. */
  public int code() {
    return code;
  }

  /** Returns the exit code that shells give a process ended by a signal. */
  public static int ofSignal(int signal) {
    return 128 + signal;
  }
}
