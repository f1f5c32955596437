package io.troupe.gym.student;

import io.troupe.chat.Thinking;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.student.Students.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Trains checkpoints in processes of its own, so that the accelerator is free before and after.
 * Calls block.
 */
public interface CheckpointTraining {
  /**
   * Trains a checkpoint.
   *
   * @param rows at least one
   * @param folder of the training, which a look later finds its files in; one that was begun is
   *     continued or begun again
   * @param student absent; gets the weights and what describes them
   */
  Outcome train(Path checkpoint, List<TrainingRow> rows, long seed, Path folder, Path student)
      throws IOException;

  /** The file that says how it trains. */
  Path recipe();

  /** Whether prompts are messages of the student's chat template. */
  boolean chat();

  /** The choice of thinking with which prompts in chats are rendered. */
  Thinking thinking();

  /** Asks the process at work to end, and to save first if it is able to; safe for any thread. */
  void stop();
}
