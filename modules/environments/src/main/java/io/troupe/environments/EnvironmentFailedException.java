package io.troupe.environments;

/**
 * The machine below an environment has failed, through no fault of the policy: the episode is lost
 * work and has no reward.
 */
public class EnvironmentFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public EnvironmentFailedException(String message) {
    super(message);
  }

  public EnvironmentFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
