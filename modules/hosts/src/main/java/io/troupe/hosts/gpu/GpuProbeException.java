package io.troupe.hosts.gpu;

/** The accelerators of a host cannot be looked at; the message says what to do. */
public final class GpuProbeException extends Exception {
  private static final long serialVersionUID = 1L;

  GpuProbeException(String message) {
    super(message);
  }

  GpuProbeException(String message, Throwable cause) {
    super(message, cause);
  }
}
