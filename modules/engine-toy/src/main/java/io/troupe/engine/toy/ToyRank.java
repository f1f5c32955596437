package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.ShardedAdamW;
import io.troupe.engine.parallel.TrainerRank;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

/** A rank that trains the toy policy: {@link TableGradient}'s gradient, {@link ShardedAdamW}. */
final class ToyRank implements TrainerRank {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final SumTable model;
  private final ShardedAdamW optimizer;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment flat;
  private final MemorySegment gradients;
  private float[] weights;

  ToyRank(SumTable model, float[] weights, Collective ranks) {
    this.model = model;
    this.weights = weights;
    this.optimizer = new ShardedAdamW(ranks, weights.length, weights.length);
    this.flat = arena.allocate(optimizer.padded() * Float.BYTES, Float.BYTES);
    this.gradients = arena.allocate(optimizer.padded() * Float.BYTES, Float.BYTES);
  }

  @Override
  public StepOutcome train(List<TrainingSequence> part, LossSettings loss, Optimisation o)
      throws RankLostException {
    require(!loss.penalisesLoss(), "the ranks of the toy policy have no reference policy");
    long start = System.nanoTime();
    TableGradient gradient = new TableGradient(model, weights);
    boolean finite = true;
    for (TrainingSequence sequence : part) {
      finite &= gradient.rollout(loss, sequence, new double[0]);
    }
    long computed = System.nanoTime();
    double norm = move(gradient, finite, o);
    if (!Double.isFinite(norm)) {
      return new StepOutcome.Skipped("the norm of the gradient is " + norm);
    }
    return new StepOutcome.Stepped(
        gradient.loss().metrics(),
        gradient.entropy(),
        norm,
        0,
        new StepOutcome.Times((computed - start) / 1e9, (System.nanoTime() - computed) / 1e9, 0),
        gradient.loss().marks(part));
  }

  /**
   * Moves the weights by the sum of all ranks' gradients.
   *
   * @param finite whether this rank could compute its own
   * @return the global norm, the same on every rank; nothing has moved if it is not finite
   */
  double move(TableGradient gradient, boolean finite, Optimisation o) throws RankLostException {
    gradients.fill((byte) 0);
    for (int i = 0; i < weights.length; i++) {
      // What one rank cannot compute makes the norm of all of them say so.
      gradients.setAtIndex(FLOAT, i, finite ? (float) gradient.values()[i] : Float.NaN);
    }
    MemorySegment.copy(weights, 0, flat, FLOAT, 0, weights.length);
    double norm = optimizer.step(flat, gradients, o);
    if (Double.isFinite(norm)) {
      MemorySegment.copy(flat, FLOAT, 0, weights, 0, weights.length);
    }
    return norm;
  }

  /** A gradient at this rank's weights, still empty. */
  TableGradient gradient() {
    return new TableGradient(model, weights);
  }

  /** The weights, which are the same on every rank. */
  float[] weights() {
    return weights;
  }

  /** This rank's shard. */
  ShardedAdamW optimizer() {
    return optimizer;
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    return Snapshots.of(version, model, weights);
  }

  @Override
  public void load(WeightSnapshot snapshot) {
    weights = Snapshots.weights(snapshot, model);
  }

  @Override
  public void saveShard(Path file) throws IOException {
    optimizer.save(file);
  }

  @Override
  public void restoreShard(Path file) throws IOException {
    optimizer.restore(file);
  }

  @Override
  public void close() {
    optimizer.close();
    arena.close();
  }
}
