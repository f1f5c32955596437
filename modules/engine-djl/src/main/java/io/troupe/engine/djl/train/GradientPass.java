package io.troupe.engine.djl.train;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.StepLoss;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.GradientLeaves;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.parallel.PartialStepMetrics;
import io.troupe.engine.train.StepOutcome;
import java.util.List;
import java.util.Optional;

/**
 * Accumulates the gradient of a step over its micro-batches. The program computes
 * log-probabilities, {@link StepLoss} computes the loss and its derivatives by the
 * log-probabilities, and PyTorch propagates the derivatives back. Every loss therefore has one
 * implementation, in double precision, outside this class.
 */
final class GradientPass {
  private final Decoder decoder;
  private final TrainableWeights trained;
  private final FlatGradients gradients;
  private final TrainingMode.Activations activations;
  private final int logitRows;
  private final StepLoss loss = new StepLoss();
  private double entropy;
  private long tokens;
  private long read;
  private long padded;
  private long gradientNanos;
  private long referenceNanos;

  /**
   * Creates a pass over the micro-batches of a step.
   *
   * @param gradients gets their sum; cleared before
   * @param logitRows most positions whose logits are held at a time
   */
  GradientPass(
      Decoder decoder,
      TrainableWeights trained,
      FlatGradients gradients,
      TrainingMode.Activations activations,
      int logitRows) {
    this.logitRows = logitRows;
    this.decoder = decoder;
    this.trained = trained;
    this.gradients = gradients;
    gradients.clear();
    this.activations = activations;
  }

  /** Computes the derivatives by the log-probabilities of the i-th sequence of a plan. */
  private interface Part {
    void of(int i, TrainingSequence sequence, TokenRows logProbs, TokenRows derivatives);
  }

  /**
   * Adds a part of the rollouts.
   *
   * @param reference used when the loss has a KL penalty
   * @return why the step cannot be made, if it cannot
   */
  Optional<String> rollouts(PrefixSharingPlan plan, LossSettings s, ReferenceWeights reference) {
    try (MicroBatch batch = MicroBatch.pack(plan, s.shares().distillation().topK())) {
      Optional<ModelWeights> frozen = reference.weights().filter(_ -> s.penalisesLoss());
      if (frozen.isPresent()) {
        try (LogProbPass penalty = ofReference(frozen.get(), batch, s.temperature())) {
          return penalty.finite()
              ? rollouts(plan, batch, s, penalty.rows(plan))
              : Optional.of("a log-probability of the reference policy is not finite");
        }
      }
      return rollouts(plan, batch, s, List.of());
    }
  }

  private LogProbPass ofReference(ModelWeights frozen, MicroBatch batch, double temperature) {
    long start = System.nanoTime();
    TorchBridge.setGradientMode(false);
    try {
      return LogProbPass.of(decoder, frozen, batch, temperature, logitRows);
    } finally {
      TorchBridge.setGradientMode(true);
      referenceNanos += System.nanoTime() - start;
    }
  }

  private Optional<String> rollouts(
      PrefixSharingPlan plan, MicroBatch batch, LossSettings s, List<TokenRows> reference) {
    int topK = s.shares().distillation().topK();
    LogProbPass.Scored scored = new LogProbPass.Scored(s.temperature(), s.rewardsEntropy());
    return accumulate(
        plan,
        batch,
        scored,
        (i, sequence, logProbs, derivatives) -> {
          double[] now = logProbs.column(0);
          double[] penalty = reference.isEmpty() ? now : reference.get(i).column(0);
          // A step is one update, so the log-probabilities at its start are the current ones.
          StepLoss.Derivatives by =
              loss.add(
                  s,
                  sequence,
                  new StepLoss.Computed(
                      now,
                      now,
                      penalty,
                      logProbs.others(topK),
                      scored.entropy() ? logProbs.column(1 + topK) : new double[0]));
          derivatives.put(0, by.byLogProb());
          derivatives.putOthers(topK, by.byTeacherToken());
          if (scored.entropy()) {
            derivatives.put(1 + topK, by.byEntropy());
          }
        });
  }

  /**
   * Adds a part of the examples.
   *
   * @return why the step cannot be made, if it cannot
   */
  Optional<String> examples(PrefixSharingPlan plan, double coefficient) {
    try (MicroBatch batch = MicroBatch.pack(plan, 0)) {
      return accumulate(
          plan,
          batch,
          LogProbPass.Scored.at(1),
          (_, example, logProbs, derivatives) ->
              derivatives.put(0, loss.supervised(example, coefficient, logProbs.column(0))));
    }
  }

  private Optional<String> accumulate(
      PrefixSharingPlan plan, MicroBatch batch, LogProbPass.Scored scored, Part part) {
    long start = System.nanoTime();
    Optional<String> refusal =
        switch (activations) {
          case KEPT -> kept(plan, batch, scored, part);
          case RECOMPUTED -> recomputed(plan, batch, scored, part);
        };
    tokens += batch.tokens();
    read += plan.read();
    padded += plan.padded();
    gradientNanos += System.nanoTime() - start;
    return refusal;
  }

  /** Whether the logits of a micro-batch are more than may be held at a time. */
  private boolean inParts(MicroBatch batch) {
    return batch.tokens() > logitRows;
  }

  private Optional<String> kept(
      PrefixSharingPlan plan, MicroBatch batch, LogProbPass.Scored scored, Part part) {
    try (GradientLeaves leaves = trained.leaves(inParts(batch))) {
      Optional<String> refusal = backward(plan, batch, batch.heads(), leaves, scored, part);
      if (refusal.isEmpty()) {
        gradients.add(leaves);
      }
      return refusal;
    }
  }

  private Optional<String> recomputed(
      PrefixSharingPlan plan, MicroBatch batch, LogProbPass.Scored scored, Part part) {
    TorchBridge.setGradientMode(false);
    try (GradientLeaves head = trained.headLeaves(inParts(batch));
        CheckpointedLayers layers = CheckpointedLayers.of(decoder, head, batch)) {
      TorchBridge.setGradientMode(true);
      Optional<String> refusal;
      try (NativeTensor hidden = layers.finalHidden()) {
        refusal = backward(plan, batch, hidden, head, scored, part);
      }
      if (refusal.isEmpty()) {
        gradients.add(head);
        layers.backward(gradients);
      }
      return refusal;
    }
  }

  /** Runs the backward pass from ids, or from hidden states that are computed already. */
  private Optional<String> backward(
      PrefixSharingPlan plan,
      MicroBatch batch,
      NativeTensor first,
      GradientLeaves leaves,
      LogProbPass.Scored scored,
      Part part) {
    if (inParts(batch)) {
      return inParts(plan, batch, first, leaves, scored, part);
    }
    try (TorchProgram.Call call = decoder.call("log_probs", leaves);
        LogProbPass logProbs = LogProbPass.of(call, batch, first, scored);
        NativeTensor gradient =
            NativeTensor.zeros(ElementType.FLOAT32, batch.tokens(), logProbs.width())) {
      Optional<String> refusal = propagate(plan, logProbs, gradient, part);
      if (refusal.isEmpty()) {
        Torch.backward(logProbs.values(), gradient);
      }
      return refusal;
    }
  }

  /**
   * Runs the backward pass with the logits of some positions at a time: first without a graph,
   * because a derivative may need the log-probabilities of a whole sequence, then again with a
   * graph.
   */
  private Optional<String> inParts(
      PrefixSharingPlan plan,
      MicroBatch batch,
      NativeTensor first,
      GradientLeaves leaves,
      LogProbPass.Scored scored,
      Part part) {
    try (TorchProgram.Call below = decoder.call("states", leaves);
        NativeTensor states = batch.into(below, first).opaque();
        LogProbPass logProbs = withoutGraph(batch, states, leaves, scored);
        NativeTensor gradient =
            NativeTensor.zeros(ElementType.FLOAT32, batch.tokens(), logProbs.width())) {
      Optional<String> refusal = propagate(plan, logProbs, gradient, part);
      if (refusal.isEmpty()) {
        try (TorchProgram.Call call = decoder.call("part_backward", leaves);
            NativeTensor down =
                call.with(states)
                    .with((long) logitRows)
                    .with(scored.temperature())
                    .with(batch.chosen())
                    .with(scored.bonus())
                    .with(gradient)
                    .with(gradients.slots())
                    .opaque()) {
          Torch.backward(states, down);
        }
      }
      return refusal;
    }
  }

  private LogProbPass withoutGraph(
      MicroBatch batch, NativeTensor states, GradientLeaves leaves, LogProbPass.Scored scored) {
    TorchBridge.setGradientMode(false);
    try (TorchProgram.Call call = decoder.call("part_log_probs", leaves)) {
      return LogProbPass.inParts(call, batch, states, scored, logitRows);
    } finally {
      TorchBridge.setGradientMode(true);
    }
  }

  /**
   * Propagates the derivatives of the loss into the gradient.
   *
   * @return why the step cannot be made, if it cannot
   */
  private Optional<String> propagate(
      PrefixSharingPlan plan, LogProbPass logProbs, NativeTensor gradient, Part part) {
    if (!logProbs.finite()) {
      return Optional.of("a log-probability of the policy is not finite");
    }
    List<TokenRows> own = logProbs.rows(plan);
    List<TokenRows> derivatives = LogProbPass.rows(plan, gradient, logProbs.width());
    for (int i = 0; i < own.size(); i++) {
      part.of(i, plan.rows().get(i).part().sequence(), own.get(i), derivatives.get(i));
    }
    if (!Double.isFinite(loss.loss())) {
      return Optional.of("the loss is " + loss.loss());
    }
    entropy += logProbs.entropySum();
    return Optional.empty();
  }

  /** Returns the metrics of the added sequences, as a part of a step. */
  PartialStepMetrics part(List<TrainingSequence> rollouts) {
    return new PartialStepMetrics(
        loss.part(rollouts),
        entropy,
        tokens,
        read,
        padded,
        gradientNanos / 1e9,
        referenceNanos / 1e9);
  }

  /**
   * Returns the outcome of a step on these rollouts, after the optimizer has updated the weights.
   */
  StepOutcome.Stepped stepped(
      List<TrainingSequence> rollouts, double gradientNorm, long optimizerNanos) {
    return new StepOutcome.Stepped(
        loss.metrics(),
        entropy / tokens,
        gradientNorm,
        1 - (double) read / padded,
        new StepOutcome.Times(gradientNanos / 1e9, optimizerNanos / 1e9, referenceNanos / 1e9),
        loss.marks(rollouts));
  }
}
