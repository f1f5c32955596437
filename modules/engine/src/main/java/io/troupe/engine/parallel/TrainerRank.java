package io.troupe.engine.parallel;

import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;

/**
 * One rank of a data-parallel trainer: all weights, a shard of the optimizer, a part of each batch.
 * Every method blocks; no two are called at once.
 */
public interface TrainerRank extends AutoCloseable {
  /**
   * Begins as a member of a new group.
   *
   * @param state what a trainer has saved: {@link io.troupe.engine.train.TrainingEngine#save}
   * @param group closed by whoever joined it, after this rank has left it
   * @throws IOException if the state cannot be read, or is of another policy
   */
  void begin(Path state, Collective group) throws IOException;

  /**
   * One step, which all ranks make together.
   *
   * @return what came of it; whatever keeps one rank from a gradient makes all of them refuse
   * @throws RankLostException if a rank was lost: the step is abandoned, and this rank must {@link
   *     #begin} again
   */
  RankStepOutcome step(RankBatch share, OptimizerSettings optimisation) throws RankLostException;

  @Override
  void close();
}
