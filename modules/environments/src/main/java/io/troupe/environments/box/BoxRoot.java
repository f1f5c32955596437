package io.troupe.environments.box;

import io.troupe.environments.container.ContainerEngine;
import io.troupe.environments.container.ContainerImage;

/** The root of a box before any file is placed there. */
public sealed interface BoxRoot {
  /** The programs of this machine, behind the walls of bubblewrap. */
  record Machine() implements BoxRoot {}

  /**
   * A container image.
   *
   * @param cpus of the task
   * @param memoryBytes of the task; 0 if the run's settings hold
   */
  record Image(ContainerEngine engine, ContainerImage image, double cpus, long memoryBytes)
      implements BoxRoot {}
}
