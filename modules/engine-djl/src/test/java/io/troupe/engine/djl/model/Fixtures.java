package io.troupe.engine.djl.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Small policies and batches. */
public final class Fixtures {
  public static final CharacterTokenizer TOKENIZER = new CharacterTokenizer("0123456789+=");
  public static final DecoderSettings TINY = tiny(true);
  public static final OptimizerSettings ADAM = new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, 1);

  private Fixtures() {}

  /** Weights wide enough apart that distributions are far from uniform. */
  public static DecoderSettings tiny(boolean tied) {
    return new DecoderSettings(8, 2, 4, 2, 4, 12, 16, 10_000, 1e-6, tied, .5);
  }

  public static DjlPolicy policy(DecoderSettings settings) {
    return DjlPolicy.create(settings, TOKENIZER, ComputeSettings.of(1, 1, 1 << 14));
  }

  public static LossSettings loss(Correction correction, double beta, KlEstimator estimator) {
    return new LossSettings(new Objective.Dapo(), .2, .28, correction, beta, estimator, 1);
  }

  public static LossSettings plainLoss() {
    return loss(new Correction.None(), 0, KlEstimator.K3);
  }

  public static OptimizerSettings adam(double learningRate) {
    return new OptimizerSettings(learningRate, .9, .95, 1e-8, .1, 1);
  }

  /** Random sequences of as many prompts; about a fifth of the tokens has no loss weight. */
  public static List<TrainingSequence> batch(Random random, int size) {
    return groups(random, size, 1);
  }

  /** Random sequences, {@code each} of them of every prompt, mixed up. */
  public static List<TrainingSequence> groups(Random random, int prompts, int each) {
    int size = prompts * each;
    List<TrainingSequence> batch = new ArrayList<>();
    List<int[]> drawn = new ArrayList<>();
    for (int i = 0; i < prompts; i++) {
      drawn.add(tokens(random, 1 + random.nextInt(6)));
    }
    for (int i = 0; i < size; i++) {
      int[] prompt = drawn.get(i % prompts).clone();
      int[] completion = tokens(random, 1 + random.nextInt(6));
      float[] behaviour = new float[completion.length];
      float[] weights = new float[completion.length];
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) (-.5 - 3 * random.nextDouble());
        weights[t] = random.nextInt(5) == 0 ? 0 : (float) random.nextDouble() / size;
      }
      batch.add(
          new TrainingSequence(prompt, completion, behaviour, weights, random.nextGaussian()));
    }
    return batch;
  }

  public static int[] tokens(Random random, int count) {
    int[] tokens = new int[count];
    Arrays.setAll(tokens, i -> 1 + random.nextInt(TOKENIZER.vocabularySize() - 1));
    return tokens;
  }

  /** The sequence again, with other behaviour log-probabilities. */
  public static TrainingSequence withBehaviour(TrainingSequence s, float[] logProbs) {
    return new TrainingSequence(
        s.prompt(), s.completion(), logProbs, s.lossWeights(), s.advantage());
  }

  /** A completion as the trainer sees it, every token weighing the same. */
  public static TrainingSequence sequence(int[] prompt, Completion completion) {
    float[] weights = new float[completion.length()];
    Arrays.fill(weights, 1f / completion.length());
    return new TrainingSequence(prompt, completion.tokens(), completion.logProbs(), weights, 1);
  }

  public static LeaseId lease(long group) {
    return new LeaseId(new GroupId(group), 1);
  }

  public static SampleRequest request(long group, String prompt, int completions, long seed) {
    return new SampleRequest(
        lease(group), TOKENIZER.encode(prompt), completions, new SamplingSettings(1, 8), seed);
  }

  public static SampleRequest greedy(long group, String prompt, int maxTokens) {
    return new SampleRequest(
        lease(group), TOKENIZER.encode(prompt), 1, SamplingSettings.greedy(maxTokens), 0);
  }

  public static StepOutcome.Stepped stepped(StepOutcome outcome) {
    return switch (outcome) {
      case StepOutcome.Stepped stepped -> stepped;
      case StepOutcome.Skipped(var reason) -> throw new AssertionError("skipped: " + reason);
    };
  }

  /** Without its times, which no two steps share. */
  public static StepOutcome untimed(StepOutcome outcome) {
    return switch (outcome) {
      case StepOutcome.Stepped(var metrics, var entropy, var norm, var padding, var _, var marks) ->
          new StepOutcome.Stepped(
              metrics, entropy, norm, padding, new StepOutcome.Times(0, 0, 0), marks);
      case StepOutcome.Skipped skipped -> skipped;
    };
  }

  /** The numbers of one tensor. */
  public static double[] of(Map<String, double[]> numbers, String name) {
    return Objects.requireNonNull(numbers.get(name), name);
  }

  public static Map<String, double[]> weights(TrainingEngine trainer) {
    return numbers(trainer.snapshot(WeightVersion.BASE).tensors());
  }

  public static Map<String, double[]> numbers(List<WeightSnapshot.Tensor> tensors) {
    TreeMap<String, double[]> numbers = new TreeMap<>();
    for (WeightSnapshot.Tensor tensor : tensors) {
      float[] values = tensor.data().toArray(ValueLayout.JAVA_FLOAT);
      double[] copy = new double[values.length];
      Arrays.setAll(copy, i -> values[i]);
      numbers.put(tensor.name(), copy);
    }
    return numbers;
  }

  /** AssertJ compares doubles as decimals, which takes longer than the steps that are compared. */
  public static void assertClose(
      double[] actual, double[] expected, double tolerance, Supplier<String> what) {
    assertThat(actual).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      if (!(Math.abs(actual[i] - expected[i]) <= tolerance)) {
        assertThat(actual[i])
            .as("%s at %d", what.get(), i)
            .isCloseTo(expected[i], within(tolerance));
      }
    }
  }

  /** Requests with random prompts, numbers of completions, limits and seeds. */
  public static List<SampleRequest> requests(Random random, int groups, int longestPrompt) {
    List<SampleRequest> requests = new ArrayList<>();
    for (int g = 1; g <= groups; g++) {
      requests.add(
          new SampleRequest(
              lease(g),
              tokens(random, 1 + random.nextInt(longestPrompt)),
              1 + random.nextInt(6),
              new SamplingSettings(1, 1 + random.nextInt(100)),
              random.nextLong()));
    }
    return requests;
  }
}
