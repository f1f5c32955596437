package io.troupe.benchmarks.gpu.row;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.model.Tuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A model and a batch of training steps.
 *
 * @param name for the table
 * @param shape of the model
 * @param sequences of a micro-batch
 * @param length of a sequence
 * @param microBatches of a step
 * @param kind of step
 */
public record TrainingLoad(
    String name, GpuShape shape, int sequences, int length, int microBatches, Kind kind) {
  private static final int RANK = 16;
  private static final long SEED = 2026;
  private static final double SPREAD = .15;
  private static final double CUDA_BYTES = 1L << 30;
  private static final double FLOAT32_TRAINED = 18; // master, copy, gradient, two moments
  private static final double LOGIT_BYTES = 4.0 * (256 << 20);
  private static final int SHORT = 48;

  /** The trained weights and the loss of a step. */
  public enum Kind {
    /** All weights, by a clipped policy loss. */
    REINFORCED,
    /** Adapters, by a clipped policy loss. */
    ADAPTED,
    /** All weights, by the likelihood of the tokens. */
    SUPERVISED
  }

  /** The loads of a row; none if it trains nothing. */
  public static List<TrainingLoad> of(GpuRow row) {
    return switch (row) {
      case G2, G3 ->
          List.of(
              new TrainingLoad("1.7B", GpuShape.QWEN3_1_7B, 4, 4096, 1, Kind.REINFORCED),
              new TrainingLoad("4B", GpuShape.QWEN3_4B, 4, 4096, 1, Kind.REINFORCED));
      case P1 ->
          List.of(
              new TrainingLoad("0.6B, 16k", GpuShape.QWEN3_0_6B, 1, 16_384, 2, Kind.REINFORCED));
      case P2 ->
          List.of(
              new TrainingLoad(
                  "0.6B, adapters, 16k", GpuShape.QWEN3_0_6B, 1, 16_384, 2, Kind.ADAPTED));
      case P3 ->
          List.of(
              new TrainingLoad("0.6B, 64k", GpuShape.QWEN3_0_6B, 1, 65_536, 1, Kind.REINFORCED));
      case P4 ->
          List.of(
              new TrainingLoad(
                  "0.6B, supervised, 8k", GpuShape.QWEN3_0_6B, 1, 8192, 2, Kind.SUPERVISED));
      case P5 ->
          List.of(
              new TrainingLoad("4B, adapters, 16k", GpuShape.QWEN3_4B, 1, 16_384, 2, Kind.ADAPTED));
      case G1, G4, G5, G6, G7, G8, D1 -> List.of();
    };
  }

  /** Returns this load in a setting: with the tiny shape and short sequences if that is tiny. */
  public TrainingLoad in(GpuSetting setting) {
    return setting.tiny()
        ? new TrainingLoad(setting.named(name), GpuShape.TINY, sequences, SHORT, microBatches, kind)
        : this;
  }

  public Tuning tuning() {
    return kind == Kind.ADAPTED
        ? new Tuning.LowRank(RANK, 2 * RANK, List.of(Tuning.Target.values()))
        : new Tuning.Full();
  }

  /** Returns the tokens that a step computes. */
  public long tokens() {
    return (long) microBatches * sequences * (length - 1);
  }

  public int microBatchTokens() {
    return sequences * length;
  }

  /** Returns the memory that a step takes, as docs/models.md counts it. */
  public double bytes() {
    double weights = shape.parameters() * (kind == Kind.ADAPTED ? 2 : FLOAT32_TRAINED);
    return weights + shape.activationBytes((long) sequences * length) + LOGIT_BYTES + CUDA_BYTES;
  }

  /**
   * Returns the batch: prompts of one token, so that a loss is at every position and no prompt is
   * shared; behaviour log-probabilities near those of random weights.
   */
  public List<TrainingSequence> batch() {
    Random random = new Random(SEED);
    int count = sequences * microBatches;
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int[] completion = random.ints(length - 1L, 2, shape.vocabulary()).toArray();
      float[] behaviour = new float[length - 1];
      float[] weights = new float[length - 1];
      for (int t = 0; t < behaviour.length; t++) {
        behaviour[t] = (float) (-Math.log(shape.vocabulary()) + SPREAD * random.nextGaussian());
      }
      Arrays.fill(weights, 1f / (count * (length - 1)));
      batch.add(
          new TrainingSequence(
              new int[] {2 + i}, completion, behaviour, weights, random.nextGaussian()));
    }
    return batch;
  }
}
