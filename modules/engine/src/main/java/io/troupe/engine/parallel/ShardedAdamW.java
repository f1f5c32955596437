package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import io.troupe.engine.train.OptimizerSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * AdamW over the ranks of a data-parallel trainer. Parameters lie in one flat array, which every
 * rank holds whole; the two means of AdamW exist once, a piece on each rank.
 *
 * <p>A step is: sum the ranks' gradients, each rank keeping its piece (reduce-scatter); the global
 * norm from the pieces' (all-reduce); the update of the piece; the pieces put together
 * (all-gather). The loss weights hold the denominators of the whole step, so the sum of the ranks'
 * gradients is the gradient of the whole batch, whatever the division. Parameters move only after
 * every rank has seen the norm, and a rank that is lost before the last exchange leaves the means
 * of this rank as they were: {@link #step} either happens or throws, and after it throws the
 * parameters must be taken from the last published version.
 *
 * <p>Arithmetic is double between single-precision arrays, as in the toy engine: PyTorch's AdamW to
 * rounding.
 */
public final class ShardedAdamW implements AutoCloseable {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final double CLIP_EPSILON = 1e-6;
  private static final long ALIGNMENT = 64;

  private final Collective ranks;
  private final long parameters;
  private final long decayed;
  private final long piece;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment first;
  private final MemorySegment second;
  private final MemorySegment gradient;
  private final MemorySegment moved;
  private long steps;

  /**
   * Starts with means of zero.
   *
   * @param parameters numbers in the flat array, without padding
   * @param decayed how many of them, from the first on, weight decay applies to
   */
  public ShardedAdamW(Collective ranks, long parameters, long decayed) {
    require(parameters >= 1, "a trainer has 1 parameter or more, not %d", parameters);
    require(
        decayed >= 0 && decayed <= parameters,
        "from 0 to %d parameters decay, not %d",
        parameters,
        decayed);
    this.ranks = ranks;
    this.parameters = parameters;
    this.decayed = decayed;
    this.piece = Math.ceilDiv(parameters, ranks.size());
    this.first = floats(piece);
    this.second = floats(piece);
    this.gradient = floats(piece);
    this.moved = floats(piece);
  }

  private MemorySegment floats(long count) {
    return arena.allocate(count * Float.BYTES, ALIGNMENT);
  }

  /** Length of the flat arrays in numbers: the parameters, padded to equal pieces. */
  public long padded() {
    return piece * ranks.size();
  }

  /** Steps taken: t of the bias corrections. */
  public long steps() {
    return steps;
  }

  /**
   * One step.
   *
   * @param weights float32, {@link #padded} long, the same on every rank; moved along
   * @param gradients float32, as long: this rank's part of the sum. Overwritten
   * @return the global L2 norm before clipping, the same on every rank; if it is not finite,
   *     nothing has moved
   * @throws RankLostException if the step could not be made: the means are as they were, the
   *     weights may be in part those of after the step
   */
  public double step(MemorySegment weights, MemorySegment gradients, OptimizerSettings o)
      throws RankLostException {
    ranks.reduceScatter(gradients, gradient);
    double[] squares = {0};
    for (long i = 0; i < piece; i++) {
      double g = gradient.getAtIndex(FLOAT, i);
      squares[0] += g * g;
    }
    ranks.allReduce(squares);
    double norm = Math.sqrt(squares[0]);
    if (!Double.isFinite(norm)) {
      return norm;
    }
    double clip = o.gradientClip() > 0 ? Math.min(1, o.gradientClip() / (norm + CLIP_EPSILON)) : 1;
    update(piece(weights), clip, o, false);
    ranks.allGather(moved, weights);
    update(moved, clip, o, true);
    steps++;
    return norm;
  }

  /** The update of this rank's piece: of the weights into a copy, or of the means. */
  private void update(MemorySegment own, double clip, OptimizerSettings o, boolean means) {
    double t = (double) (steps + 1);
    double firstCorrection = 1 - Math.pow(o.beta1(), t);
    double secondCorrection = Math.sqrt(1 - Math.pow(o.beta2(), t));
    long start = ranks.rank() * piece;
    for (long i = 0; i < piece; i++) {
      double g = gradient.getAtIndex(FLOAT, i) * clip;
      float m = (float) (o.beta1() * first.getAtIndex(FLOAT, i) + (1 - o.beta1()) * g);
      float v = (float) (o.beta2() * second.getAtIndex(FLOAT, i) + (1 - o.beta2()) * g * g);
      if (means) {
        first.setAtIndex(FLOAT, i, m);
        second.setAtIndex(FLOAT, i, v);
      } else {
        double decay = start + i < decayed ? 1 - o.learningRate() * o.weightDecay() : 1;
        double denominator = Math.sqrt(v) / secondCorrection + o.epsilon();
        moved.setAtIndex(
            FLOAT,
            i,
            (float)
                (own.getAtIndex(FLOAT, i) * decay
                    - o.learningRate() / firstCorrection * m / denominator));
      }
    }
  }

  /**
   * Takes this rank's piece of the means of all parameters, after so many steps.
   *
   * @param allFirst float32, of all parameters without padding
   * @param allSecond alike
   */
  public void take(MemorySegment allFirst, MemorySegment allSecond, long after) {
    long bytes = parameters * Float.BYTES;
    require(
        allFirst.byteSize() == bytes && allSecond.byteSize() == bytes,
        "the means of %d parameters have %d bytes each, not %d and %d",
        parameters,
        bytes,
        allFirst.byteSize(),
        allSecond.byteSize());
    long from = Math.min(parameters, ranks.rank() * piece) * Float.BYTES;
    long held = Math.clamp(parameters - ranks.rank() * piece, 0, piece) * Float.BYTES;
    MemorySegment.copy(allFirst, from, first, 0, held);
    MemorySegment.copy(allSecond, from, second, 0, held);
    steps = after;
  }

  /** This rank's piece of a flat array that is padded. */
  public MemorySegment piece(MemorySegment all) {
    return all.asSlice(ranks.rank() * piece * Float.BYTES, piece * Float.BYTES);
  }

  /** This rank's piece of the first means. */
  public MemorySegment first() {
    return first;
  }

  /** This rank's piece of the second means. */
  public MemorySegment second() {
    return second;
  }

  @Override
  public void close() {
    arena.close();
  }
}
