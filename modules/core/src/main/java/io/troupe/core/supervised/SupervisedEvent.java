package io.troupe.core.supervised;

/** One fact in the journal of a supervised run. */
public sealed interface SupervisedEvent {
  /**
   * A process works on the run.
   *
   * @param from the step whose checkpoint it continues from; 0 begins
   * @param rows of the training data
   * @param data digest of the tokens and loss masks of all rows
   */
  record Started(long from, int rows, String data) implements SupervisedEvent {}

  /** A step moved the weights. */
  record Stepped(SupervisedStep step) implements SupervisedEvent {}

  /** A step did not move the weights; its rows are passed over. */
  record StepSkipped(long step, String reason) implements SupervisedEvent {}

  /**
   * The weights of a step were evaluated.
   *
   * @param name {@code held_out_loss}, or {@code eval_NAME}
   */
  record Evaluated(long step, String name, double value) implements SupervisedEvent {}

  /** The checkpoint of a step is whole. */
  record CheckpointSaved(long step) implements SupervisedEvent {}

  /** The run ended. */
  record Ended(Reason reason) implements SupervisedEvent {}

  /** The reason why a run ended. */
  enum Reason {
    COMPLETED,
    INTERRUPTED,
    FAILED
  }
}
