package io.troupe.console.http;

/** A request that is answered with an error: its status, and what to do about it. */
public final class ApiException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;

  public ApiException(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  public int status() {
    return status;
  }

  public String sentence() {
    return String.valueOf(getMessage());
  }
}
