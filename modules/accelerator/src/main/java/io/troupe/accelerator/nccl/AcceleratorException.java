package io.troupe.accelerator.nccl;

/**
 * A library of an accelerator is missing, or one of its functions failed. A CUDA error is sticky:
 * every later call of the process fails too, so the process has to end and be replaced.
 */
public final class AcceleratorException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception with the reason in words. */
  public AcceleratorException(String reason) {
    super(reason);
  }

  /** Creates an exception with the reason in words and the failure that showed it. */
  public AcceleratorException(String reason, Throwable cause) {
    super(reason + ": " + cause.getMessage(), cause);
  }
}
