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
  private final Weights weights;
  private final AdamW optimizer;
  private final NativeTensor one;
  private Reference reference = new Reference.None();
  private boolean open = true;

  DjlTrainer(PolicyModel model, ComputeSettings compute, long seed, Runnable onClose) {
    this.compute = compute;
    this.card = model.card();
    this.onClose = onClose;
    Torch.enter(compute.trainerThreads(), false);
    this.decoder = new Decoder(model.settings(), model.tokenizer().vocabularySize());
    this.weights = model.weights(decoder.layout(), seed);
    this.optimizer = new AdamW(decoder.layout());
    this.one = NativeTensor.zeros(DType.FLOAT32, 1);
    this.one.memory().set(ValueLayout.JAVA_FLOAT, 0, 1);
  }

  /** Gives the loss and statistics of a micro-batch as two tensor handles. */
  private interface Loss {
    long[] of(Leaves leaves, MicroBatch batch);
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> batch, LossSettings loss, Optimisation optimisation) {
    require(
        loss.klCoefficient() == 0 || reference instanceof Reference.Frozen,
        "a KL coefficient of %s needs a reference policy, and none is frozen; call"
            + " freezeReference first",
        loss.klCoefficient());
    return step(batch, true, (leaves, part) -> policyLoss(leaves, part, loss), optimisation);
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
    try (Leaves leaves = Leaves.of(weights)) {
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
    long[] handles = loss.of(leaves, part);
    try (NativeTensor value = NativeTensor.of(handles[0], DType.FLOAT32, 1);
        NativeTensor sums = NativeTensor.of(handles[1], DType.FLOAT64, StepStatistics.COUNT)) {
      double number = statistics.add(sums.memory(), part.tokens());
      if (Double.isFinite(number)) {
        TorchBridge.backward(value.handle(), one.handle());
      }
      return number;
    }
  }

  private long[] policyLoss(Leaves leaves, MicroBatch part, LossSettings s) {
    if (s.klCoefficient() > 0 && reference instanceof Reference.Frozen(var frozen)) {
      TorchBridge.setGradientMode(false);
      try (NativeTensor logProbs = logProbs(frozen, part, s.temperature())) {
        TorchBridge.setGradientMode(true);
        return policyLoss(leaves, part, s, logProbs);
      }
    }
    return policyLoss(leaves, part, s, part.behaviour()); // stands in, and is not read
  }

  private long[] policyLoss(
      Leaves leaves, MicroBatch part, LossSettings s, NativeTensor referenceLogProbs) {
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
      return part.into(call)
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

  private long[] imitationLoss(Leaves leaves, MicroBatch part) {
    try (Program.Call call = decoder.call("imitation_loss", leaves)) {
      return part.into(call).with(part.weight()).tensorHandles();
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
    Weights frozen = weights.copy();
    reference.release();
    reference = new Reference.Frozen(frozen);
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    enter(false);
    return weights.snapshot(version);
  }

  @Override
  public void save(Path directory) throws IOException {
    enter(false);
    Checkpoint.save(directory, card, compute.shardBytes(), weights, optimizer, reference);
  }

  @Override
  public void restore(Path directory) throws IOException {
    enter(false);
    Reference restored = Checkpoint.restore(directory, card, weights, optimizer);
    reference.release();
    reference = restored;
  }

  /** The optimizer's state, which tells a test the gradient. */
  AdamW optimizer() {
    return optimizer;
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
      weights.close();
      one.close();
      decoder.close();
      onClose.run();
    }
  }
}
