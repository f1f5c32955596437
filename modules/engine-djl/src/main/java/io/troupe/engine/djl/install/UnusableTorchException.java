package io.troupe.engine.djl.install;

/** An installed PyTorch cannot be used; the message says why, and names the next command. */
public final class UnusableTorchException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  public UnusableTorchException(String message) {
    super(message);
  }

  public UnusableTorchException(String message, Throwable cause) {
    super(message, cause);
  }
}
