package io.troupe.engine.parallel;

import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;

/** All ranks of a trainer, wherever they are. Every method blocks; no two are called at once. */
public interface TrainerRanks extends AutoCloseable {
  /** How many made the last beginning, or would. */
  int size();

  /** Whether ranks have come since the last beginning, so that all should begin anew. */
  default boolean changed() {
    return false;
  }

  /**
   * Whether the last loss is one more of those after which the run ends; not if the crew knows that
   * it can do without the lost one. Seldom enough false for a step to come to an end.
   */
  default boolean counts() {
    return true;
  }

  /**
   * All ranks begin anew, in a new group; those that are gone are started again first.
   *
   * @param state what a trainer has saved; read when this returns
   * @throws RankLostException if one is lost on the way; may be called again then
   * @throws IOException if they cannot begin
   */
  void begin(Path state) throws IOException, RankLostException;

  /**
   * One step that all make together.
   *
   * @param shares one a rank, in rank order
   * @param arena where what they answer may go; shared among threads, and closed when it was read
   * @return in rank order; either all have moved or none has
   * @throws RankLostException if one was lost: they must {@link #begin} again
   */
  List<RankStepOutcome> step(List<RankBatch> shares, OptimizerSettings optimisation, Arena arena)
      throws RankLostException;

  /** Told that a step is abandoned, and why. */
  void lost(String reason);

  @Override
  void close();
}
