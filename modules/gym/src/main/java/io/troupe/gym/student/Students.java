package io.troupe.gym.student;

import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Makes, trains and asks students; a student is a folder of weights. Calls block. */
public interface Students extends AutoCloseable {
  /** The file beside a student's weights that says what it was trained on; no student copies it. */
  String MANIFEST = "student.json";

  /** The outcome of a training. */
  sealed interface Outcome {
    /** The folder holds a student. */
    record Fitted(int steps, double loss) implements Outcome {}

    /** The loss was not finite; the folder holds nothing. */
    record NotFinite(String reason) implements Outcome {}
  }

  /**
   * Makes a base student from random weights.
   *
   * @param rows rows that it is trained on
   * @param folder absent; whole when the call returns
   */
  Outcome makeBase(long seed, List<TrainingRow> rows, Path folder) throws IOException;

  /**
   * Trains a base student on rows.
   *
   * @param base folder of the student that it starts from
   * @param rows all rows, new and old
   * @param replay rows of the base student from which as many are mixed in
   * @param folder absent; whole when the call returns
   */
  Outcome train(Path base, List<TrainingRow> rows, List<TrainingRow> replay, long seed, Path folder)
      throws IOException;

  /**
   * Has a student answer prompts.
   *
   * @param samples of each prompt; one is greedy, more are sampled at temperature 1
   * @return the responses of each prompt, in the order of the prompts
   */
  List<List<String>> answer(Path student, List<String> prompts, int samples, long seed)
      throws IOException;

  /**
   * Asks the training at hand to keep what it has and to end, if it is able to; safe for any
   * thread.
   */
  default void stop() {}

  /** A training of another process failed, and its message says why. */
  final class FailedTrainingException extends IOException {
    private static final long serialVersionUID = 1;

    public FailedTrainingException(String message) {
      super(message);
    }
  }

  /** A training was asked to end before it was done, and continues when it is asked for again. */
  final class StoppedTrainingException extends IOException {
    private static final long serialVersionUID = 1;

    public StoppedTrainingException(String message) {
      super(message);
    }
  }

  @Override
  void close();
}
