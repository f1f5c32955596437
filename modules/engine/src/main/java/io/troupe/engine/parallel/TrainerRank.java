package io.troupe.engine.parallel;

import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * One rank of a data-parallel trainer: all weights, a piece of the optimizer, a part of each batch.
 * Every method blocks; no two are called at once.
 */
public interface TrainerRank extends AutoCloseable {
  /**
   * Joins a new group.
   *
   * @param state directory that a trainer saved: {@link io.troupe.engine.train.TrainingEngine#save}
   * @param group the new group; the code that opened it closes it after this rank has left it
   * @throws IOException if the state cannot be read, or is of another policy
   */
  void begin(Path state, Collective group) throws IOException;

  /**
   * Makes one step together with all other ranks.
   *
   * @return the outcome; if one rank has no gradient, all ranks refuse the step
   * @throws RankLostException if a rank was lost: the step is abandoned, and this rank must {@link
   *     #begin} again
   */
  RankStepOutcome step(RankBatch share, OptimizerSettings optimisation) throws RankLostException;

  /** Writes this rank's piece of the state. */
  void write(List<StatePart> parts, StateSink to) throws IOException;

  /** Freezes the weights as the reference policy, in place of a former one. */
  void freezeReference();

  /**
   * Returns the number of elements of each rank's piece of the flat arrays in this group. The piece
   * of rank r begins at r times that.
   */
  long pieceElements();

  /** Copies what this rank's piece of the state has of the range of {@code copy}. */
  void copyTo(StatePiece copy);

  /** Replaces what {@code part} has of this rank's piece of the state. */
  void take(StatePiece part);

  /**
   * Continues from the piece that it has taken, together with all other ranks.
   *
   * @param steps that the pieces are ahead of the state that it began from
   * @throws RankLostException if a rank was lost: this rank must {@link #begin} again
   */
  void continueAfter(long steps) throws RankLostException;

  @Override
  void close();
}
