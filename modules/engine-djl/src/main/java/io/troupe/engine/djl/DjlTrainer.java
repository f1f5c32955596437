package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.core.train.Correction;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.djl.NativeTensor.DType;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The trainer: weights, moments and reference in native memory, one program call for the loss of a
 * micro-batch, one for the optimizer.
 *
 * <p>A step either happens or leaves everything as it was: gradients belong to the step's leaves
 * and go with them, however it ends, and weights and moments move only in the optimizer's call,
 * which looks at the norm first.
 */
final class DjlTrainer implements TrainingEngine {
  private final ComputeSettings compute;
  private final CheckpointCard card;
  private final Runnable onClose;
  private final Decoder decoder;
  private final Trained trained;
  private final TrainingMode.Activations activations;
  private final AdamW optimizer;
  private final NativeTensor one;
  private Reference reference = new Reference.None();
  private boolean open = true;

  DjlTrainer(
      PolicyModel model, ComputeSettings compute, TrainingMode mode, long seed, Runnable onClose) {
    this.compute = compute;
    this.card = model.card();
    this.onClose = onClose;
    Torch.enter(compute.trainerThreads(), false);
    this.decoder = new Decoder(model.settings(), model.tokenizer().vocabularySize());
    this.trained = Trained.of(mode.tuning(), model.weights(decoder.layout(), seed), seed);
    this.activations = mode.activations();
    this.optimizer = new AdamW(trained.moved().layout());
    this.one = NativeTensor.zeros(DType.FLOAT32, 1);
    this.one.memory().set(ValueLayout.JAVA_FLOAT, 0, 1);
  }

  /**
   * Gives the loss and statistics of a micro-batch as two tensor handles; {@code first} is its ids,
   * or the hidden states where they are computed already.
   */
  private interface Loss {
    long[] of(Leaves leaves, MicroBatch batch, NativeTensor first);
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> batch, LossSettings loss, Optimisation optimisation) {
    require(
        loss.klCoefficient() == 0 || reference.weights().isPresent(),
        "a KL coefficient of %s needs a reference policy, and none is frozen; call"
            + " freezeReference first",
        loss.klCoefficient());
    return step(
        batch, true, (leaves, part, first) -> policyLoss(leaves, part, first, loss), optimisation);
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    return step(batch, false, this::imitationLoss, optimisation);
  }

  private StepOutcome step(
      List<TrainingSequence> batch, boolean behaviour, Loss loss, Optimisation optimisation) {
    enter(true);
    MicroBatch.check(batch, decoder.settings().contextLength(), decoder.vocabulary(), behaviour);
    List<SequencePlan> plans = SequencePlan.of(batch, compute.microBatchTokens());
    if (plans.isEmpty()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    StepStatistics statistics = new StepStatistics();
    try (Leaves leaves = trained.leaves()) {
      for (SequencePlan plan : plans) {
        try (MicroBatch part = MicroBatch.pack(plan)) {
          double value = accumulate(leaves, part, loss, statistics);
          if (!Double.isFinite(value)) {
            return new StepOutcome.Skipped("the loss is " + value);
          }
        }
      }
      Torch.enter(compute.trainerThreads(), false);
      double norm = optimizer.step(decoder, leaves, optimisation);
      return Double.isFinite(norm)
          ? statistics.stepped(norm)
          : new StepOutcome.Skipped("the norm of the gradient is " + norm);
    }
  }

  private double accumulate(Leaves leaves, MicroBatch part, Loss loss, StepStatistics statistics) {
    return switch (activations) {
      case KEPT -> backward(leaves, part, part.heads(), loss, statistics);
      case RECOMPUTED -> recomputed(leaves, part, loss, statistics);
    };
  }

  private double backward(
      Leaves leaves, MicroBatch part, NativeTensor first, Loss loss, StepStatistics statistics) {
    long[] handles = loss.of(leaves, part, first);
    try (NativeTensor value = NativeTensor.of(handles[0], DType.FLOAT32, 1);
        NativeTensor sums = NativeTensor.of(handles[1], DType.FLOAT64, StepStatistics.COUNT)) {
      double number = statistics.add(sums.memory(), part.tokens());
      if (Double.isFinite(number)) {
        TorchBridge.backward(value.handle(), one.handle());
      }
      return number;
    }
  }

  private double recomputed(Leaves leaves, MicroBatch part, Loss loss, StepStatistics statistics) {
    TorchBridge.setGradientMode(false);
    try (Layers layers = Layers.of(decoder, leaves, part)) {
      TorchBridge.setGradientMode(true);
      double number;
      try (NativeTensor hidden = layers.leave()) {
        number = backward(leaves, part, hidden, loss, statistics);
      }
      if (Double.isFinite(number)) {
        layers.unwind();
      }
      return number;
    }
  }

  private long[] policyLoss(Leaves leaves, MicroBatch part, NativeTensor first, LossSettings s) {
    Optional<Weights> frozen = reference.weights().filter(_ -> s.klCoefficient() > 0);
    if (frozen.isPresent()) {
      TorchBridge.setGradientMode(false);
      try (NativeTensor logProbs = logProbs(frozen.get(), part, s.temperature())) {
        TorchBridge.setGradientMode(true);
        return policyLoss(leaves, part, first, s, logProbs);
      }
    }
    return policyLoss(leaves, part, first, s, part.behaviour()); // stands in, and is not read
  }

  private long[] policyLoss(
      Leaves leaves,
      MicroBatch part,
      NativeTensor first,
      LossSettings s,
      NativeTensor referenceLogProbs) {
    double cap =
        switch (s.correction()) {
          case Correction.None() -> 0;
          case Correction.TruncatedImportance(double limit) -> limit;
        };
    int estimator =
        switch (s.klEstimator()) {
          case K1 -> 1;
          case K2 -> 2;
          case K3 -> 3;
        };
    try (Program.Call call = decoder.call("policy_loss", leaves)) {
      return part.into(call, first)
          .with(part.behaviour())
          .with(referenceLogProbs)
          .with(part.advantage())
          .with(part.weight())
          .with(s.temperature())
          .with(s.clips() ? 1L : 0L)
          .with(s.clipLow())
          .with(s.clipHigh())
          .with(cap)
          .with(s.klCoefficient())
          .with((long) estimator)
          .tensorHandles();
    }
  }

  private long[] imitationLoss(Leaves leaves, MicroBatch part, NativeTensor first) {
    try (Program.Call call = decoder.call("imitation_loss", leaves)) {
      return part.into(call, first).with(part.weight()).tensorHandles();
    }
  }

  private NativeTensor logProbs(Weights of, MicroBatch part, double temperature) {
    try (Program.Call call = decoder.call("log_probs", of)) {
      return part.into(call).with(temperature).tensor(DType.FLOAT32, part.tokens());
    }
  }

  @Override
  public void freezeReference() {
    enter(false);
    Reference frozen = trained.reference(decoder, optimizer.steps() > 0);
    reference.release();
    reference = frozen;
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    enter(false);
    return trained.snapshot(decoder, version);
  }

  @Override
  public void save(Path directory) throws IOException {
    enter(false);
    Checkpoint.save(directory, card, compute.shardBytes(), decoder, trained, optimizer, reference);
  }

  @Override
  public void restore(Path directory) throws IOException {
    enter(false);
    Reference restored = Checkpoint.restore(directory, card, trained, optimizer);
    reference.release();
    reference = restored;
  }

  /** The optimizer's state, which tells a test the gradient. */
  AdamW optimizer() {
    return optimizer;
  }

  /** What moves, for a test. */
  Weights moved() {
    return trained.moved();
  }

  private void enter(boolean gradients) {
    if (!open) {
      throw new IllegalStateException("the trainer is closed");
    }
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "the trainer runs on a platform thread: PyTorch keeps state with the native one");
    }
    Torch.enter(compute.trainerThreads(), gradients);
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      reference.release();
      optimizer.close();
      trained.close();
      one.close();
      decoder.close();
      onClose.run();
    }
  }
}
