package io.troupe.engine.djl.train;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchOutOfMemoryException;
import io.troupe.engine.parallel.RankBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes a batch through a policy in micro-batches that fit in memory. */
final class MicroBatchPass {
  private static final Logger LOG = LoggerFactory.getLogger(MicroBatchPass.class);
  private static final int SMALLEST_MICRO_BATCH = 2;

  private final Decoder decoder;
  private final Device device;
  private final TrainingMode.Activations activations;
  private final int logitRows;
  private int microBatchTokens;

  MicroBatchPass(Decoder decoder, ComputeSettings compute, TrainingMode.Activations activations) {
    this.decoder = decoder;
    this.device = compute.device();
    this.activations = activations;
    this.logitRows = compute.logitRows(decoder.vocabulary());
    this.microBatchTokens = compute.microBatchTokens();
  }

  /** A part of a step; returns why the step cannot be made, if it cannot. */
  interface Part {
    Optional<String> in(GradientPass pass);
  }

  /** Returns the most positions whose logits are held at a time. */
  int logitRows() {
    return logitRows;
  }

  /** Refuses a batch that does not fit the policy. */
  void check(RankBatch share) {
    if (share instanceof RankBatch.Rollouts(var rollouts, var _, var loss)) {
      check(rollouts, true, loss.shares().distillation().topK());
    }
    check(share.examples(), false, 0);
  }

  /** Refuses sequences that do not fit the policy. */
  void check(List<TrainingSequence> batch, boolean behaviour, int topK) {
    MicroBatch.check(
        batch, decoder.settings().contextLength(), decoder.vocabulary(), behaviour, topK);
  }

  List<PrefixSharingPlan> plans(List<TrainingSequence> batch) {
    return PrefixSharingPlan.of(batch, microBatchTokens);
  }

  /** Returns the parts of a batch; none if no token of the batch has a loss weight. */
  List<Part> parts(RankBatch share, ReferenceWeights reference) {
    List<Part> parts = new ArrayList<>();
    if (share instanceof RankBatch.Rollouts(var rollouts, var _, var loss)) {
      for (PrefixSharingPlan plan : plans(rollouts)) {
        parts.add(pass -> pass.rollouts(plan, loss, reference));
      }
    }
    for (PrefixSharingPlan plan : plans(share.examples())) {
      parts.add(pass -> pass.examples(plan, share.coefficient()));
    }
    return parts;
  }

  /** Creates an empty pass, which sums gradients up from 0. */
  GradientPass pass(TrainableWeights trained, FlatGradients gradients) {
    return new GradientPass(decoder, trained, gradients, activations, logitRows);
  }

  /**
   * Runs work in micro-batches, and runs it again with smaller micro-batches when memory runs out.
   * The work must free everything that it began; the size of micro-batches changes a result by
   * rounding only.
   */
  <T> T withinMemory(Supplier<T> work) {
    while (true) {
      try {
        return work.get();
      } catch (TorchOutOfMemoryException full) {
        halveMicroBatch(full);
      }
    }
  }

  private void halveMicroBatch(TorchOutOfMemoryException full) {
    int before = microBatchTokens;
    if (before <= SMALLEST_MICRO_BATCH) {
      throw new IllegalStateException(
          "memory ran out with one sequence a pass; lower policy.context_length, set"
              + " policy.recompute to layers, or take a device with more memory",
          full);
    }
    microBatchTokens = Math.max(SMALLEST_MICRO_BATCH, before / 2);
    Torch.emptyCache(device);
    LOG.warn(
        "memory ran out ({}); the trainer continues with micro-batches of {} tokens, {} before: set"
            + " policy.micro_batch_tokens to that",
        full.getMessage(),
        microBatchTokens,
        before);
  }
}
