package io.troupe.environments;

import java.util.List;

/** Makes the environments of a run; found by {@link java.util.ServiceLoader}. */
public interface EnvironmentProvider {
  /** Returns the name in {@code episode.environment}, one word. */
  String name();

  /** Returns the tools of every environment, at least one. */
  List<ToolSchema> tools();

  /**
   * Makes an environment for one episode.
   *
   * @throws EnvironmentFailedException if none can be made at present
   */
  Environment newEnvironment();
}
