package io.troupe.engine.djl.train;

import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.engine.djl.checkpoint.PolicyModel;
import io.troupe.engine.djl.checkpoint.TrainerCheckpoint;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.PartialStepMetrics;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A rank that trains a decoder: weights and gradients in flat arrays by {@link GradientPass}, and
 * AdamW on the device for the rank's piece of them. What is exchanged passes through the memory of
 * the host.
 */
public final class DjlRank implements TrainerRank {
  private final int threads;
  private final ModelDescription card;
  private final Runnable onClose;
  private final Decoder decoder;
  private final TrainableWeights trained;
  private final FlatGradients gradients;
  private final MicroBatchPass work;
  private ReferenceWeights reference = new ReferenceWeights.None();
  private Optional<RankShard> shard = Optional.empty();
  private boolean open = true;

  public DjlRank(
      PolicyModel model,
      ComputeSettings compute,
      TrainingMode mode,
      Consumer<String> watcher,
      Runnable onClose) {
    this.threads = compute.trainerThreads();
    this.card = model.card();
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
    ModelWeights first =
        model.weights(FlatLayout.of(decoder.layout(), mode.decay()), compute.device(), 0);
    this.trained = TrainableWeights.of(mode.tuning(), decoder, first, mode.decay(), 0);
    this.gradients = trained.gradients(decoder);
    this.work = new MicroBatchPass(decoder, compute, mode.activations());
  }

  @Override
  public void begin(Path state, Collective group) throws IOException {
    Torch.enter(threads, false);
    shard.ifPresent(RankShard::close);
    shard = Optional.empty();
    RankShard piece = new RankShard(decoder, trained, group);
    try {
      ReferenceWeights restored =
          TrainerCheckpoint.restore(state, card, decoder, trained, piece::restore);
      reference.release();
      reference = restored;
    } catch (IOException | RuntimeException | Error unreadable) {
      piece.close();
      throw unreadable;
    }
    shard = Optional.of(piece);
  }

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings o) throws RankLostException {
    RankShard own = shard();
    Torch.enter(threads, true);
    work.check(share);
    Gradient gradient = work.withinMemory(() -> gradient(share));
    Torch.enter(threads, false);
    double norm = own.step(gradients, o);
    if (!Double.isFinite(norm)) {
      return new RankStepOutcome.Refused(gradient.refusal);
    }
    trained.moved(decoder);
    return new RankStepOutcome.Updated(norm, gradient.part);
  }

  @Override
  public void write(List<StatePart> parts, StateSink to) throws IOException {
    Torch.enter(threads, false);
    shard().write(parts, to);
  }

  @Override
  public void freezeReference() {
    Torch.enter(threads, false);
    ReferenceWeights frozen = trained.reference(decoder, shard().steps() > 0);
    reference.release();
    reference = frozen;
  }

  @Override
  public long pieceElements() {
    return shard().pieceElements();
  }

  @Override
  public void copyTo(StatePiece copy) {
    Torch.enter(threads, false);
    shard().copyTo(copy);
  }

  @Override
  public void take(StatePiece part) {
    Torch.enter(threads, false);
    shard().take(part);
  }

  @Override
  public void continueAfter(long steps) throws RankLostException {
    Torch.enter(threads, false);
    shard().continueAfter(steps);
    trained.moved(decoder);
  }

  private RankShard shard() {
    return shard.orElseThrow(() -> new IllegalStateException("the rank is a member of no group"));
  }

  /** The result of the rank's part of a batch, beside the gradients. */
  private record Gradient(String refusal, PartialStepMetrics part) {}

  /**
   * An empty part has gradients of zeros. A refused part has NaN, so that the global norm is NaN on
   * every rank.
   */
  private Gradient gradient(RankBatch share) {
    GradientPass pass = work.pass(trained, gradients);
    for (MicroBatchPass.Part part : work.parts(share, reference)) {
      Optional<String> refusal = part.in(pass);
      if (refusal.isPresent()) {
        gradients.refuse();
        return new Gradient(refusal.get(), pass.part(share.rollouts()));
      }
    }
    return new Gradient("", pass.part(share.rollouts()));
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      shard.ifPresent(RankShard::close);
      shard = Optional.empty();
      reference.release();
      gradients.close();
      trained.close();
      decoder.close();
      onClose.run();
    }
  }
}
