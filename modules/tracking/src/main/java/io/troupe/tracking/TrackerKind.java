package io.troupe.tracking;

import java.util.Locale;

/** The trackers that a run can be sent to. */
public enum TrackerKind {
  /** Weights and Biases, by a file that {@code wandb sync} uploads. */
  WANDB,
  /** A tracking server of MLflow. */
  MLFLOW,
  /** Event files that TensorBoard reads. */
  TENSORBOARD,
  /** A server of Trackio. */
  TRACKIO;

  /** The name in configurations and files. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
