package io.troupe.engine;

/** A request that no engine of its kind could take, such as a prompt that fills the context. */
public final class RequestRefusedException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public RequestRefusedException(String message) {
    super(message);
  }
}
