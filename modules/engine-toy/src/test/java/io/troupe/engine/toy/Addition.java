package io.troupe.engine.toy;

import io.troupe.core.completion.Completion;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Addition of two digits, as the tests of this module train it: {@code 3+9=} is {@code 12}. */
final class Addition {
  static final String ALPHABET = "+0123456789=";
  static final ToySettings SETTINGS = ToySettings.of(ALPHABET, 8);
  static final int MAX_TOKENS = 3;
  static final LossSettings LOSS =
      new LossSettings(
          new Objective.Dapo(), 0.2, 0.28, new Correction.None(), 0, KlEstimator.K3, 1);

  private final Tokenizer tokenizer;

  Addition(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  static OptimizerSettings rate(double learningRate) {
    return new OptimizerSettings(learningRate, 0.9, 0.999, 1e-8, 0, 1);
  }

  int[] prompt(int a, int b) {
    return tokenizer.encode(a + "+" + b + "=");
  }

  double reward(int a, int b, Completion completion) {
    return tokenizer.decode(completion.tokens()).equals("" + (a + b)) ? 1 : 0;
  }

  SampleRequest request(int a, int b, int completions, double temperature, long seed) {
    return new SampleRequest(
        new LeaseId(new GroupId(1 + 10L * a + b), 1),
        prompt(a, b),
        completions,
        new SamplingSettings(temperature, MAX_TOKENS),
        seed);
  }

  /** The right answer with its stop token. */
  TrainingSequence solution(int a, int b, float weight) {
    int[] digits = tokenizer.encode("" + (a + b));
    int[] completion = Arrays.copyOf(digits, digits.length + 1);
    completion[digits.length] = tokenizer.endOfSequence();
    float[] weights = new float[completion.length];
    Arrays.fill(weights, weight);
    return new TrainingSequence(prompt(a, b), completion, new float[completion.length], weights, 0);
  }

  /** The pairs of digits of a measurement. */
  interface Pairs {
    boolean take(int a, int b);
  }

  /** Share of pairs that are answered right, greedily. */
  double accuracy(SamplingEngine sampler, Pairs pairs) {
    List<int[]> taken = new ArrayList<>();
    List<SampleRequest> requests = new ArrayList<>();
    for (int a = 0; a < 10; a++) {
      for (int b = 0; b < 10; b++) {
        if (pairs.take(a, b)) {
          taken.add(new int[] {a, b});
          requests.add(request(a, b, 1, 0, 0));
        }
      }
    }
    double right = 0;
    List<List<Completion>> answers = Await.all(sampler.sample(requests));
    for (int i = 0; i < answers.size(); i++) {
      right += reward(taken.get(i)[0], taken.get(i)[1], answers.get(i).getFirst());
    }
    return right / answers.size();
  }

  /** Without its times, which no two steps share. */
  static StepOutcome untimed(StepOutcome outcome) {
    return switch (outcome) {
      case StepOutcome.Stepped(var metrics, var entropy, var norm, var padding, var _, var marks) ->
          new StepOutcome.Stepped(
              metrics, entropy, norm, padding, new StepOutcome.Times(0, 0, 0), marks);
      case StepOutcome.Skipped skipped -> skipped;
    };
  }
}
