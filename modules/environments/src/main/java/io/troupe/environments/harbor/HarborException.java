package io.troupe.environments.harbor;

/** A task folder is broken, or asks for what this program does not have; says where and what. */
public final class HarborException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** A failure of a folder. */
  public HarborException(String message) {
    super(message);
  }
}
