package io.troupe.environments.container;

import java.io.IOException;

/** A container engine is missing, does not answer, or did not do what it was asked for. */
public final class ContainerException extends IOException {
  private static final long serialVersionUID = 1L;

  public ContainerException(String message) {
    super(message);
  }
}
