package io.troupe.environments;

/** Makes environments, and owns what they share, such as processes. */
@FunctionalInterface
public interface EnvironmentPool extends AutoCloseable {
  /** Makes an environment for one episode. */
  Environment newEnvironment();

  /** Ends what the environments share; those that are open fail. */
  @Override
  default void close() {
    // Nothing is shared unless an implementation says so.
  }
}
