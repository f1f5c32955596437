package io.troupe.benchmarks.engine;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.train.OptimizerSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A model and a batch that both engines train on: prompts of one token, so that a loss is at every
 * position, and nothing is shared that one side could compute once.
 */
public enum TrainCase {
  TINY(ModelSize.TINY, 64, 64, 4),
  SMALL(ModelSize.SMALL, 8, 256, 2);

  public static final long SEED = 2026;
  public static final OptimizerSettings OPTIMISATION =
      new OptimizerSettings(1e-4, .9, .95, 1e-8, .01, 1);
  public static final LossSettings LOSS =
      new LossSettings(new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);

  private static final double SPREAD = .15;
  private static final int FIRST_WORD = 2;

  private final ModelSize size;
  private final int sequences;
  private final int length;
  private final int steps;

  TrainCase(ModelSize size, int sequences, int length, int steps) {
    this.size = size;
    this.sequences = sequences;
    this.length = length;
    this.steps = steps;
  }

  String label() {
    return "%s, %d × %d tokens".formatted(size.label(), sequences, length);
  }

  ModelSize size() {
    return size;
  }

  /** Tokens of a sequence. */
  int length() {
    return length;
  }

  /** Steps of a burst. */
  int steps() {
    return steps;
  }

  DjlPolicy policy(int threads) {
    return policy(threads, Precision.FLOAT32);
  }

  DjlPolicy policy(int threads, Precision precision) {
    return policy(threads, precision, Device.host());
  }

  /** Creates the policy on a device. */
  public DjlPolicy policy(int threads, Precision precision, Device device) {
    return DjlPolicy.create(
        size.settings(length),
        size.tokenizer(),
        ComputeSettings.of(threads, threads, sequences * length).on(device, precision));
  }

  /** Returns the sizes as {@code model.py} names them. */
  public Map<String, Object> sizes() {
    return size.sizes(length);
  }

  /** The batch: behaviour log-probabilities near the first policy's, so that ratios are near 1. */
  public List<TrainingSequence> batch() {
    Random random = new Random(SEED);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < sequences; i++) {
      int[] prompt = {token(random)};
      int[] completion = new int[length - 1];
      float[] behaviour = new float[length - 1];
      float[] weights = new float[length - 1];
      Arrays.setAll(completion, _ -> token(random));
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) (-Math.log(size.vocabulary()) + SPREAD * random.nextGaussian());
      }
      Arrays.fill(weights, 1f / (sequences * completion.length));
      batch.add(
          new TrainingSequence(prompt, completion, behaviour, weights, random.nextGaussian()));
    }
    return batch;
  }

  private int token(Random random) {
    return FIRST_WORD + random.nextInt(size.vocabulary() - FIRST_WORD);
  }

  /** Batch, clip range and optimizer, as {@code train.py} takes them. */
  public Map<String, Object> json() {
    List<TrainingSequence> all = batch();
    Map<String, Object> batch = new LinkedHashMap<>();
    batch.put(
        "ids",
        all.stream()
            .map(s -> IntStream.concat(Arrays.stream(s.prompt()), Arrays.stream(s.completion())))
            .map(IntStream::toArray)
            .toList());
    batch.put("behaviour", all.stream().map(TrainingSequence::behaviourLogProbs).toList());
    batch.put("weight", all.stream().map(TrainingSequence::lossWeights).toList());
    batch.put("advantage", all.stream().map(TrainingSequence::advantage).toList());
    Map<String, Object> optimizer = new LinkedHashMap<>();
    optimizer.put("learning_rate", OPTIMISATION.learningRate());
    optimizer.put("beta1", OPTIMISATION.beta1());
    optimizer.put("beta2", OPTIMISATION.beta2());
    optimizer.put("epsilon", OPTIMISATION.epsilon());
    optimizer.put("weight_decay", OPTIMISATION.weightDecay());
    optimizer.put("clip", OPTIMISATION.gradientClip());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("batch", batch);
    json.put("optimizer", optimizer);
    json.put("clip_low", LOSS.clip().low());
    json.put("clip_high", LOSS.clip().high());
    return json;
  }
}
