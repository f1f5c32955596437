package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import io.troupe.engine.train.OptimizerSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * AdamW over the ranks of a data-parallel trainer. Parameters lie in one flat array, of which every
 * rank holds a whole copy; the two moments of AdamW exist once, a piece on each rank.
 *
 * <p>A step sums the ranks' gradients, of which each rank keeps its piece (reduce-scatter),
 * computes the global norm from the norms of the pieces (all-reduce), updates each piece, and
 * concatenates the pieces (all-gather). The loss weights hold the denominators of the whole step,
 * so the sum of the ranks' gradients is the gradient of the whole batch, whatever the division.
 * Parameters move only after every rank has seen the norm, and a rank that is lost before the last
 * exchange leaves the moments of this rank as they were: {@link #step} either happens or throws,
 * and after it throws the parameters must be taken from the last published version.
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
   * Starts with moments of zero.
   *
   * @param parameters numbers in the flat array, without padding
   * @param decayed number of parameters, from the first on, that weight decay applies to
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

  /** Returns the length of the flat arrays: the number of parameters, padded to equal pieces. */
  public long padded() {
    return piece * ranks.size();
  }

  /** Returns the number of steps taken: t of the bias corrections. */
  public long steps() {
    return steps;
  }

  /**
   * Makes one step.
   *
   * @param weights float32, {@link #padded} long, the same on every rank; the step updates them
   * @param gradients float32, as long: this rank's part of the sum; overwritten
   * @return the global L2 norm before clipping, the same on every rank; if it is not finite,
   *     nothing has moved
   * @throws RankLostException if the step could not be made: the moments are as they were; some of
   *     the weights may be updated already
   */
  public double step(MemorySegment weights, MemorySegment gradients, OptimizerSettings o)
      throws RankLostException {
    ranks.reduceScatter(Span.floats(gradients), Span.floats(gradient));
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
    ranks.allGather(Span.floats(moved), Span.floats(weights));
    update(moved, clip, o, true);
    steps++;
    return norm;
  }

  /** Updates this rank's piece: the weights into a copy, or the moments. */
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
   * Restores this rank's piece from the moments of all parameters after a number of steps.
   *
   * @param allFirst float32, of all parameters without padding
   * @param allSecond laid out like {@code allFirst}
   */
  public void take(MemorySegment allFirst, MemorySegment allSecond, long after) {
    long bytes = parameters * Float.BYTES;
    require(
        allFirst.byteSize() == bytes && allSecond.byteSize() == bytes,
        "the moments of %d parameters have %d bytes each, not %d and %d",
        parameters,
        bytes,
        allFirst.byteSize(),
        allSecond.byteSize());
    MemorySegment.copy(allFirst, from() * Float.BYTES, first, 0, held() * Float.BYTES);
    MemorySegment.copy(allSecond, from() * Float.BYTES, second, 0, held() * Float.BYTES);
    steps = after;
  }

  /** Returns the number of elements of each rank's piece, padding included. */
  public long pieceElements() {
    return piece;
  }

  /**
   * Returns this rank's piece of the state, without padding.
   *
   * @param weights float32, of all parameters, with or without padding
   */
  public StatePiece state(MemorySegment weights) {
    long bytes = held() * Float.BYTES;
    return new StatePiece(
        from(),
        weights.asSlice(from() * Float.BYTES, bytes),
        first.asSlice(0, bytes),
        second.asSlice(0, bytes));
  }

  /**
   * Continues from weights and moments that this piece has taken, which are some steps ahead.
   *
   * @param weights float32, {@link #padded} long; gets the pieces of all ranks
   */
  public void continueAfter(long ahead, MemorySegment weights) throws RankLostException {
    ranks.allGather(Span.floats(piece(weights)), Span.floats(weights));
    steps += ahead;
  }

  /** Returns the number of parameters before this rank's piece. */
  public long from() {
    return Math.min(parameters, ranks.rank() * piece);
  }

  /** Returns the number of parameters of this rank's piece, without padding. */
  public long held() {
    return Math.clamp(parameters - ranks.rank() * piece, 0, piece);
  }

  /** Returns this rank's piece of a padded flat array. */
  public MemorySegment piece(MemorySegment all) {
    return all.asSlice(ranks.rank() * piece * Float.BYTES, piece * Float.BYTES);
  }

  /** Returns this rank's piece of the first moments. */
  public MemorySegment first() {
    return first;
  }

  /** Returns this rank's piece of the second moments. */
  public MemorySegment second() {
    return second;
  }

  @Override
  public void close() {
    arena.close();
  }
}
