package io.troupe.engine.djl.train;

import io.troupe.engine.djl.checkpoint.TrainerCheckpoint;
import io.troupe.engine.djl.checkpoint.TrainerCheckpoint.StoredMoments;
import io.troupe.engine.djl.model.AdamWRange;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A rank's piece of the flat arrays as a member of a group: AdamW's moments of the piece, and the
 * exchange of a step (ZeRO stage 1, Rajbhandari et al. 2020).
 *
 * <p>A step sums the ranks' gradients, of which each rank keeps its piece (reduce-scatter),
 * computes the global norm from the norms of the pieces (all-reduce), updates each piece, and
 * concatenates the pieces (all-gather). The loss weights hold the denominators of the whole step,
 * so the sum of the ranks' gradients is the gradient of the whole batch, whatever the division.
 */
final class RankShard implements AutoCloseable {
  /** Elements that are converted at a time. */
  private static final long PART = 1L << 21;

  private final Collective group;
  private final long piece;
  private final ModelWeights trained;
  private final DType gathered;
  private final NativeTensor own;
  private final NativeTensor first;
  private final NativeTensor second;
  private final NativeTensor gradient;
  private final AdamWRange optimizer;
  private long steps;

  /** Creates the piece of a rank, with moments of 0. */
  RankShard(Decoder decoder, TrainableWeights weights, Collective group) {
    this.trained = weights.trainable();
    this.gathered = weights.computedWith(decoder);
    FlatLayout layout = trained.flatLayout();
    this.group = group;
    this.piece = layout.piece(group.size());
    long from = group.rank() * piece;
    this.own = trained.flat().slice(from, from + piece);
    this.first = NativeTensor.zeros(trained.device(), ElementType.FLOAT32, piece);
    this.second = NativeTensor.zeros(trained.device(), ElementType.FLOAT32, piece);
    this.gradient = NativeTensor.zeros(trained.device(), ElementType.FLOAT32, piece);
    this.optimizer =
        new AdamWRange(
            decoder, piece, Math.clamp(layout.decayed() - from, 0, piece), own, first, second);
  }

  /** Takes its piece of the moments of a checkpoint; the others are not read. */
  void restore(StoredMoments allFirst, StoredMoments allSecond, long count) {
    long from = group.rank() * piece;
    allFirst.copyTo(trained.flatLayout(), from, first, piece);
    allSecond.copyTo(trained.flatLayout(), from, second, piece);
    steps = count;
  }

  /**
   * Makes one step.
   *
   * @param gradients of this rank's part of the batch; overwritten
   * @return the global norm before clipping, the same on every rank; if it is not finite, nothing
   *     has moved
   * @throws RankLostException if the step could not be made; the rank begins again then
   */
  double step(FlatGradients gradients, OptimizerSettings o) throws RankLostException {
    reduceScatter(gradients);
    double[] squares = {optimizer.squaredNorm(gradient)};
    group.allReduce(squares);
    double norm = Math.sqrt(squares[0]);
    if (Double.isFinite(norm)) {
      optimizer.step(gradient, norm, steps + 1, o);
      gather();
      steps++;
    }
    return norm;
  }

  private void reduceScatter(FlatGradients gradients) throws RankLostException {
    try (NativeTensor all = onHost(gradients.flat(), trained.flatLayout().capacity());
        NativeTensor summed = onHost(gradient, piece)) {
      group.reduceScatter(Span.floats(padded(all)), Span.floats(summed.memory()));
      if (!gradient.onHost()) {
        gradient.assign(summed, piece);
      }
    } finally {
      gradients.overwritten();
    }
  }

  private void gather() throws RankLostException {
    long capacity = trained.flatLayout().capacity();
    try (NativeTensor all = onHost(trained.flat(), capacity)) {
      switch (gathered) {
        case BF16 -> gatherRounded(all);
        case F32, F16 -> group.allGather(Span.floats(mine(all)), Span.floats(padded(all)));
      }
      if (!trained.flat().onHost()) {
        trained.flat().assign(all, capacity);
      }
    }
  }

  /**
   * Gathers in the precision of the passes, with half the bytes. The own piece stays as fine as it
   * is; the pieces of the others only go into passes, which would round them likewise.
   */
  private void gatherRounded(NativeTensor all) throws RankLostException {
    long bytes = piece * Short.BYTES;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment halves = arena.allocate(group.size() * bytes, Float.BYTES);
      MemorySegment mine = halves.asSlice(group.rank() * bytes, bytes);
      DType.BF16.fromFloats(mine(all), mine);
      group.allGather(Span.of(mine, Span.Element.BF16), Span.of(halves, Span.Element.BF16));
      for (int rank = 0; rank < group.size(); rank++) {
        if (rank != group.rank()) {
          DType.BF16.toFloats(halves.asSlice(rank * bytes, bytes), pieceOf(rank, all));
        }
      }
    }
  }

  /** Returns a copy of a tensor of another device, or the tensor itself. */
  private static NativeTensor onHost(NativeTensor tensor, long elements) {
    return tensor.toHost(ElementType.FLOAT32, elements);
  }

  private MemorySegment padded(NativeTensor all) {
    return all.memory().asSlice(0, group.size() * piece * Float.BYTES);
  }

  private MemorySegment mine(NativeTensor all) {
    return pieceOf(group.rank(), all);
  }

  private MemorySegment pieceOf(int rank, NativeTensor all) {
    return all.memory().asSlice(rank * piece * Float.BYTES, piece * Float.BYTES);
  }

  /** Returns the number of elements of each rank's piece. */
  long pieceElements() {
    return piece;
  }

  /** Copies what this piece has of the range of a copy. */
  void copyTo(StatePiece copy) {
    try (NativeTensor weights = onHost(own, piece);
        NativeTensor means = onHost(first, piece);
        NativeTensor squares = onHost(second, piece)) {
      copy.take(
          new StatePiece(group.rank() * piece, weights.memory(), means.memory(), squares.memory()));
    }
  }

  /** Replaces what a part has of this piece. */
  void take(StatePiece part) {
    long from = group.rank() * piece;
    StatePiece shared = part.within(from, piece);
    long at = shared.from() - from;
    take(own, at, shared.weights());
    take(first, at, shared.first());
    take(second, at, shared.second());
  }

  private static void take(NativeTensor piece, long at, MemorySegment numbers) {
    long count = numbers.byteSize() / Float.BYTES;
    if (count > 0) {
      try (NativeTensor range = piece.slice(at, at + count)) {
        range.copyFrom(numbers);
      }
    }
  }

  /** Continues from what this piece has taken, which is some steps ahead. */
  void continueAfter(long ahead) throws RankLostException {
    gather();
    steps += ahead;
  }

  /** Returns the number of steps taken. */
  long steps() {
    return steps;
  }

  /** Writes the piece of weights and moments. */
  void write(List<StatePart> parts, StateSink to) throws IOException {
    for (StatePart part : parts) {
      switch (part) {
        case WEIGHTS -> write("", own, DType.F32, to);
        case BFLOAT16_WEIGHTS -> write("", own, DType.BF16, to);
        case MOMENTS -> {
          write(TrainerCheckpoint.FIRST, first, DType.F32, to);
          write(TrainerCheckpoint.SECOND, second, DType.F32, to);
        }
      }
    }
  }

  private void write(String prefix, NativeTensor tensor, DType type, StateSink to)
      throws IOException {
    FlatLayout layout = trained.flatLayout();
    try (NativeTensor host = onHost(tensor, piece)) {
      MemorySegment numbers = host.memory();
      for (FlatLayout.Overlap overlap : layout.overlaps(group.rank() * piece, piece)) {
        String name = prefix + layout.tensors().parameters().get(overlap.tensor()).name();
        MemorySegment range =
            numbers.asSlice(overlap.inRange() * Float.BYTES, overlap.count() * Float.BYTES);
        if (type == DType.F32) {
          to.write(name, overlap.inTensor() * Float.BYTES, range);
        } else {
          writeConverted(name, overlap.inTensor(), range, type, to);
        }
      }
    }
  }

  /** Converts part by part, so that no second array as long as the piece is needed. */
  private static void writeConverted(
      String name, long first, MemorySegment range, DType type, StateSink to) throws IOException {
    long count = range.byteSize() / Float.BYTES;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(Math.min(PART, count) * type.bytes(), Long.BYTES);
      for (long at = 0; at < count; at += PART) {
        long elements = Math.min(PART, count - at);
        MemorySegment converted = buffer.asSlice(0, elements * type.bytes());
        type.fromFloats(range.asSlice(at * Float.BYTES, elements * Float.BYTES), converted);
        to.write(name, (first + at) * type.bytes(), converted);
      }
    }
  }

  @Override
  public void close() {
    optimizer.close();
    own.close();
    first.close();
    second.close();
    gradient.close();
  }
}
