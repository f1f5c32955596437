package io.troupe.environments.box;

import io.troupe.environments.command.ProcessSlots;

/** The boxes that may run at a time, of either kind, with the same limits. */
record Boxes(BoxSettings settings, ProcessSlots<Box> slots) {
  /**
   * Creates boxes that do not run yet.
   *
   * @param name of the thread that starts them
   */
  static Boxes of(String name, BoxSettings settings) {
    return new Boxes(
        settings,
        new ProcessSlots<>(
            name, settings.count(), ordinal -> BoxProcess.start(settings, ordinal), Box::close));
  }

  /** Builds a missing image, before turns whose time is bounded. */
  void prepare(BoxRoot root) {
    if (root instanceof BoxRoot.Image image) {
      ContainerBox.prepare(image);
    }
  }

  /**
   * Starts a box in a slot that the caller has.
   *
   * @throws io.troupe.environments.EnvironmentFailedException if it cannot be started
   */
  Box start(BoxRoot root) {
    return switch (root) {
      case BoxRoot.Machine() -> slots.start();
      case BoxRoot.Image image -> slots.start(_ -> ContainerBox.start(image, settings));
    };
  }
}
