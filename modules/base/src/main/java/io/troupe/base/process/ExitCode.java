package io.troupe.base.process;

/** What the process tells its caller by its exit code. */
public enum ExitCode {
  OK(0),
  /**
   * Everything possible was done, and part of the input was bad or could not be judged; or, of
   * {@code doctor}, something a run needs is missing.
   */
  INCOMPLETE(1),
  /** The command line or the configuration is wrong; nothing was started. */
  USAGE(2),
  /** The cluster cannot be reached. */
  UNREACHABLE(3),
  /** The run started and could not go on. */
  FAILED(4);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  public int code() {
    return code;
  }

  /** A process that a signal ended, as shells count it. */
  public static int ofSignal(int signal) {
    return 128 + signal;
  }
}
