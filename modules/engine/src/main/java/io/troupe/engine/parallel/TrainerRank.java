package io.troupe.engine.parallel;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * One rank of a data-parallel trainer: all weights, a shard of the optimizer, a part of each batch.
 * Every method blocks, and all are called from one thread.
 */
public interface TrainerRank extends AutoCloseable {
  /**
   * One step, which all ranks make together. The sequences of all ranks are the batch; their loss
   * weights hold its denominators, so it does not matter who has which.
   *
   * @param part of the batch, maybe none
   * @return the outcome; its loss metrics and marks are of the part, its gradient norm of the
   *     batch. A gradient that is not finite on one rank makes all of them skip
   * @throws RankLostException if a rank was lost: the step is abandoned. This rank must be given
   *     the last published weights and its shard of that version before it can go on in a new group
   */
  StepOutcome train(List<TrainingSequence> part, LossSettings loss, Optimisation optimisation)
      throws RankLostException;

  /** Copies the weights out; they are the same on every rank. */
  WeightSnapshot snapshot(WeightVersion version);

  /** Takes up published weights. */
  void load(WeightSnapshot weights);

  /** Writes this rank's shard of the optimizer, durably. */
  void saveShard(Path file) throws IOException;

  /** Reads what {@link #saveShard} wrote for this rank of a group of the same size. */
  void restoreShard(Path file) throws IOException;

  @Override
  void close();
}
