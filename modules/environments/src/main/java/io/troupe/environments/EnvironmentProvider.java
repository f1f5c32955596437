package io.troupe.environments;

import java.util.List;

/**
 * The environments that a run may use. Those that {@code episode.environment.name} chooses among
 * are found by {@link java.util.ServiceLoader}.
 */
public interface EnvironmentProvider {
  /** Returns the name in {@code episode.environment.name}, one word. */
  String name();

  /**
   * Returns the tools of every environment, at least one.
   *
   * @throws EnvironmentFailedException if what has the tools cannot be asked for them
   */
  List<ToolSchema> tools();

  /** Opens what the environments of a worker, or of an evaluation, have in common. */
  EnvironmentPool open();
}
