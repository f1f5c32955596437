package io.troupe.console;

/** A request that is answered with an error: its status, and what to do about it. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;

  Refusal(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  int status() {
    return status;
  }

  String sentence() {
    return String.valueOf(getMessage());
  }
}
