package io.troupe.app.doctor;

/**
 * What a check found.
 *
 * @param name of the matter, two words at most
 * @param status whether a run would work
 * @param detail what is there
 * @param next what to do; empty when nothing is to be done
 */
public record Finding(String name, Status status, String detail, String next) {
  /** Whether a run would work. */
  public enum Status {
    OK,
    /** Runs work; something is slower, smaller or left out. */
    WARN,
    /** Runs do not work, or not safely. */
    FAIL
  }

  static Finding ok(String name, String detail) {
    return new Finding(name, Status.OK, detail, "");
  }

  static Finding warn(String name, String detail, String next) {
    return new Finding(name, Status.WARN, detail, next);
  }

  static Finding fail(String name, String detail, String next) {
    return new Finding(name, Status.FAIL, detail, next);
  }
}
