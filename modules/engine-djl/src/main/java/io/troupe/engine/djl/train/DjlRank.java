package io.troupe.engine.djl.train;

import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.engine.djl.checkpoint.PolicyModel;
import io.troupe.engine.djl.checkpoint.TrainerCheckpoint;
import io.troupe.engine.djl.model.AdamW;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.GradientLeaves;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.PartialStepMetrics;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.ShardedAdamW;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A rank that trains a decoder: weights and gradients in native memory, by {@link GradientPass};
 * the exchange and {@link ShardedAdamW} over flat arrays of the host.
 */
public final class DjlRank implements TrainerRank {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final int threads;
  private final ModelDescription card;
  private final WeightDecay decay;
  private final Runnable onClose;
  private final Decoder decoder;
  private final TrainableWeights trained;
  private final MicroBatchPass work;
  private final FlatLayout layout;
  private ReferenceWeights reference = new ReferenceWeights.None();
  private Optional<Begun> begun = Optional.empty();
  private boolean open = true;

  /** The state of a rank as a member of a group. */
  private record Begun(
      ShardedAdamW optimizer, Arena arena, MemorySegment weights, MemorySegment gradients) {
    void end() {
      optimizer.close();
      arena.close();
    }
  }

  public DjlRank(
      PolicyModel model,
      ComputeSettings compute,
      TrainingMode mode,
      Consumer<String> watcher,
      Runnable onClose) {
    this.threads = compute.trainerThreads();
    this.card = model.card();
    this.decay = mode.decay();
    this.onClose = onClose;
    Torch.enter(threads, false);
    this.decoder =
        new Decoder(
            model.settings(),
            model.tokenizer().vocabularySize(),
            compute.device(),
            compute.precision(),
            watcher);
    // Any seed: the trainable weights are read from the trainer's state.
    this.trained =
        TrainableWeights.of(mode.tuning(), model.weights(decoder.layout(), compute.device(), 0), 0);
    this.work = new MicroBatchPass(decoder, compute, mode.activations());
    this.layout = new FlatLayout(trained.trainable().layout(), decay);
  }

  @Override
  public void begin(Path state, Collective group) throws IOException {
    Torch.enter(threads, false);
    begun.ifPresent(Begun::end);
    begun = Optional.empty();
    // All moments are in memory for a moment; the rank keeps only its shard.
    try (AdamW whole = new AdamW(trained.trainable(), decay);
        Arena passing = Arena.ofConfined()) {
      ReferenceWeights restored = TrainerCheckpoint.restore(state, card, trained, whole);
      reference.release();
      reference = restored;
      ShardedAdamW optimizer = new ShardedAdamW(group, layout.size(), layout.decayed());
      MemorySegment first = floats(passing, layout.size());
      MemorySegment second = floats(passing, layout.size());
      layout.copy(whole.first(), first);
      layout.copy(whole.second(), second);
      optimizer.take(first, second, whole.steps());
      Arena arena = Arena.ofShared();
      MemorySegment weights = floats(arena, optimizer.padded());
      layout.copy(trained.trainable(), weights);
      begun = Optional.of(new Begun(optimizer, arena, weights, floats(arena, optimizer.padded())));
    }
  }

  private static MemorySegment floats(Arena arena, long count) {
    return arena.allocate(count * Float.BYTES, Long.BYTES);
  }

  /** A gradient, in the flat array of the rank. */
  private record Gradient(String refusal, PartialStepMetrics part) {}

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings o) throws RankLostException {
    Begun own =
        begun.orElseThrow(() -> new IllegalStateException("the rank is a member of no group"));
    Torch.enter(threads, true);
    work.check(share);
    Gradient gradient = work.withinMemory(() -> gradient(share, own.gradients));
    Torch.enter(threads, false);
    double norm = own.optimizer.step(own.weights, own.gradients, o);
    if (!Double.isFinite(norm)) {
      return new RankStepOutcome.Refused(gradient.refusal);
    }
    layout.fill(trained.trainable(), own.weights);
    return new RankStepOutcome.Updated(
        norm,
        gradient.part,
        own.optimizer.piece(own.weights),
        own.optimizer.first(),
        own.optimizer.second());
  }

  /**
   * An empty part has a gradient of zeros. A refused part has NaN, so that the global norm is NaN
   * on every rank.
   */
  private Gradient gradient(RankBatch share, MemorySegment flat) {
    flat.fill((byte) 0);
    List<MicroBatchPass.Part> parts = work.parts(share, reference);
    try (GradientLeaves leaves = trained.leaves()) {
      GradientPass pass = work.pass(leaves);
      for (MicroBatchPass.Part part : parts) {
        Optional<String> refusal = part.in(pass);
        if (refusal.isPresent()) {
          flat.set(FLOAT, 0, Float.NaN);
          return new Gradient(refusal.get(), pass.part(share.rollouts()));
        }
      }
      if (!parts.isEmpty()) {
        layout.copyGradients(leaves, flat);
      }
      return new Gradient("", pass.part(share.rollouts()));
    }
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      begun.ifPresent(Begun::end);
      begun = Optional.empty();
      reference.release();
      trained.close();
      decoder.close();
      onClose.run();
    }
  }
}
