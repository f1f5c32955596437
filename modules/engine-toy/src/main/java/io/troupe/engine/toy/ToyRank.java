package io.troupe.engine.toy;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.ShardedAdamW;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A rank that trains the toy policy: {@link TableGradient}'s gradient, {@link ShardedAdamW}. */
final class ToyRank implements TrainerRank {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final ToySettings settings;
  private final LogitTable model;
  private Optional<Begun> begun = Optional.empty();

  /** The state of a rank as a member of a group; the reference is empty if none is frozen. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Begun(
      float[] weights,
      float[] reference,
      ShardedAdamW optimizer,
      Arena arena,
      MemorySegment flat,
      MemorySegment gradients) {
    Begun with(float[] frozen) {
      return new Begun(weights, frozen, optimizer, arena, flat, gradients);
    }

    void end() {
      optimizer.close();
      arena.close();
    }
  }

  ToyRank(ToySettings settings, LogitTable model) {
    this.settings = settings;
    this.model = model;
  }

  @Override
  public void begin(Path state, Collective group) throws IOException {
    close();
    ToyCheckpoint saved = ToyCheckpoint.read(state, settings, model);
    int parameters = model.parameters();
    ShardedAdamW optimizer = new ShardedAdamW(group, parameters, parameters);
    optimizer.take(
        MemorySegment.ofArray(saved.firstMoment()),
        MemorySegment.ofArray(saved.secondMoment()),
        saved.steps());
    Arena arena = Arena.ofShared();
    MemorySegment flat = arena.allocate(optimizer.padded() * Float.BYTES, Float.BYTES);
    MemorySegment gradients = arena.allocate(optimizer.padded() * Float.BYTES, Float.BYTES);
    begun =
        Optional.of(
            new Begun(saved.weights(), saved.reference(), optimizer, arena, flat, gradients));
  }

  private Begun begun() {
    return begun.orElseThrow(() -> new IllegalStateException("the rank is a member of no group"));
  }

  @Override
  public void write(List<StatePart> parts, StateSink to) throws IOException {
    Begun own = begun();
    ShardedAdamW optimizer = own.optimizer;
    long from = optimizer.from() * Float.BYTES;
    long bytes = optimizer.held() * Float.BYTES;
    for (StatePart part : parts) {
      switch (part) {
        case WEIGHTS ->
            to.write(
                LogitTable.TENSOR,
                from,
                MemorySegment.ofArray(ToySnapshots.bytes(own.weights)).asSlice(from, bytes));
        case BFLOAT16_WEIGHTS ->
            throw new IllegalStateException("the toy policy's versions are float32");
        case MOMENTS -> {
          to.write(ToyCheckpoint.FIRST, from, optimizer.first().asSlice(0, bytes));
          to.write(ToyCheckpoint.SECOND, from, optimizer.second().asSlice(0, bytes));
        }
      }
    }
  }

  @Override
  public void freezeReference() {
    Begun own = begun();
    begun = Optional.of(own.with(own.weights.clone()));
  }

  @Override
  public long pieceElements() {
    return begun().optimizer.pieceElements();
  }

  @Override
  public void copyTo(StatePiece copy) {
    copy.take(piece());
  }

  @Override
  public void take(StatePiece part) {
    piece().take(part);
  }

  private StatePiece piece() {
    Begun own = begun();
    return own.optimizer.state(MemorySegment.ofArray(own.weights));
  }

  @Override
  public void continueAfter(long steps) throws RankLostException {
    Begun own = begun();
    int count = own.weights.length;
    MemorySegment.copy(own.weights, 0, own.flat, FLOAT, 0, count);
    own.optimizer.continueAfter(steps, own.flat);
    MemorySegment.copy(own.flat, FLOAT, 0, own.weights, 0, count);
  }

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings o) throws RankLostException {
    Begun own = begun();
    long start = System.nanoTime();
    List<double[]> references = references(own, share);
    long read = System.nanoTime();
    TableGradient gradient = new TableGradient(model, own.weights);
    String refusal =
        ToyTrainer.finite(references)
            ? ToyTrainer.add(gradient, share, references)
            : ToyTrainer.NO_REFERENCE;
    double seconds = (System.nanoTime() - read) / 1e9;
    double norm = move(own, gradient, refusal.isEmpty(), o);
    if (!Double.isFinite(norm)) {
      return new RankStepOutcome.Refused(refusal);
    }
    return new RankStepOutcome.Updated(
        norm, gradient.part(share.rollouts(), seconds, (read - start) / 1e9));
  }

  private List<double[]> references(Begun own, RankBatch share) {
    return switch (share) {
      case RankBatch.Rollouts(var rollouts, var _, var loss) when loss.penalisesLoss() ->
          ToyTrainer.logProbs(model, own.reference, rollouts, loss.temperature());
      case RankBatch.Rollouts _, RankBatch.Examples _ -> List.of();
    };
  }

  /** Updates the weights by the sum of all ranks' gradients, unless the sum is not finite. */
  private double move(Begun own, TableGradient gradient, boolean finite, OptimizerSettings o)
      throws RankLostException {
    own.gradients.fill((byte) 0);
    for (int i = 0; i < own.weights.length; i++) {
      // If one rank has no gradient, NaN makes the global norm NaN on every rank.
      own.gradients.setAtIndex(FLOAT, i, finite ? (float) gradient.values()[i] : Float.NaN);
    }
    MemorySegment.copy(own.weights, 0, own.flat, FLOAT, 0, own.weights.length);
    double norm = own.optimizer.step(own.flat, own.gradients, o);
    if (Double.isFinite(norm)) {
      MemorySegment.copy(own.flat, FLOAT, 0, own.weights, 0, own.weights.length);
    }
    return norm;
  }

  @Override
  public void close() {
    begun.ifPresent(Begun::end);
    begun = Optional.empty();
  }
}
