package io.troupe.cli.doctor;

/**
 * The result of a check.
 *
 * @param name of the matter, two words at most
 * @param status whether a run would work
 * @param detail the finding
 * @param next order for the operator; empty when nothing is to be done
 */
public record CheckResult(String name, Status status, String detail, String next) {
  /** Whether a run would work. */
  public enum Status {
    OK,
    /** Runs work; something is slower, smaller or left out. */
    WARN,
    /** Runs do not work, or not safely. */
    FAIL
  }

  /** A result of that status. */
  public static CheckResult ok(String name, String detail) {
    return new CheckResult(name, Status.OK, detail, "");
  }

  /** A result of that status. */
  public static CheckResult warn(String name, String detail, String next) {
    return new CheckResult(name, Status.WARN, detail, next);
  }

  /** A result of that status. */
  public static CheckResult fail(String name, String detail, String next) {
    return new CheckResult(name, Status.FAIL, detail, next);
  }
}
