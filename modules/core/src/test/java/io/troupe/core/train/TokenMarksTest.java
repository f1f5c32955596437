package io.troupe.core.train;

import static io.troupe.core.loss.GoldenBatch.ALL;
import static io.troupe.core.loss.GoldenBatch.LOG_PROBS;
import static io.troupe.core.loss.GoldenBatch.batch;
import static io.troupe.core.loss.GoldenBatch.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.SequenceMask;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.TokenMarks.MarkedRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class TokenMarksTest {
  private static final double LOW = .2;
  private static final double HIGH = .28;
  private static final List<Objective> OBJECTIVES =
      List.of(
          new Objective.Grpo(),
          new Objective.DrGrpo(100),
          new Objective.Dapo(),
          new Objective.Gspo(),
          new Objective.Cispo());
  private static final List<Correction> CORRECTIONS =
      List.of(
          new Correction.None(),
          new Correction.TruncatedImportance(1.1),
          new Correction.IcePop(.8, 1.2),
          new Correction.Decoupled(1.1, Correction.OverCap.TRUNCATED));
  private static final List<SequenceMask> MASKS =
      List.of(
          new SequenceMask.None(),
          new SequenceMask.Geometric(.9, 1.1),
          new SequenceMask.Outlier(.5, 2));

  private static LossSettings drawn(Random random) {
    Objective objective = OBJECTIVES.get(random.nextInt(OBJECTIVES.size()));
    Correction correction =
        objective.correctsItself()
            ? new Correction.None()
            : CORRECTIONS.get(random.nextInt(CORRECTIONS.size()));
    return settings(objective, LOW, HIGH, correction, 0).with(MASKS.get(random.nextInt(3)));
  }

  /** Lengths from 1 to 30; a fifth of the tokens has no weight; no two sequences are alike. */
  private static List<TrainingSequence> sequences(Random random) {
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      int length = 1 + random.nextInt(30);
      float[] behaviour = new float[length];
      float[] weights = new float[length];
      for (int t = 0; t < length; t++) {
        behaviour[t] = (float) -(3 * random.nextDouble());
        weights[t] = random.nextInt(5) == 0 ? 0 : 1f / 32;
      }
      batch.add(
          new TrainingSequence(
              new int[] {1}, new int[length], behaviour, weights, random.nextGaussian()));
    }
    return batch;
  }

  private static List<double[]> logProbs(Random random, List<TrainingSequence> batch) {
    List<double[]> all = new ArrayList<>();
    for (TrainingSequence sequence : batch) {
      double shift = .2 * random.nextGaussian();
      double[] logProbs = new double[sequence.completion().length];
      for (int t = 0; t < logProbs.length; t++) {
        logProbs[t] = sequence.behaviourLogProbs()[t] + shift + .3 * random.nextGaussian();
      }
      all.add(logProbs);
    }
    return all;
  }

  private static void add(
      StepLoss to, LossSettings s, List<TrainingSequence> batch, List<double[]> now, int i) {
    to.add(s, batch.get(i), new StepLoss.Computed(now.get(i), now.get(i), now.get(i)));
  }

  private static List<Integer> tokens(List<MarkedRun> runs) {
    List<Integer> tokens = new ArrayList<>();
    for (MarkedRun run : runs) {
      for (int t = run.from(); t < run.from() + run.tokens(); t++) {
        tokens.add(t);
      }
    }
    return tokens;
  }

  private static double share(
      List<TokenMarks> marks, Function<TokenMarks, List<MarkedRun>> of, long among) {
    long marked = marks.stream().mapToLong(one -> tokens(of.apply(one)).size()).sum();
    return marked / Math.max((double) among, 1);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void marks_anyLoss_areAsManyAsItsMetricsCount(long seed) {
    Random random = new Random(seed);
    LossSettings s = drawn(random);
    List<TrainingSequence> batch = sequences(random);
    List<double[]> now = logProbs(random, batch);
    StepLoss step = new StepLoss();
    for (int i = 0; i < batch.size(); i++) {
      add(step, s, batch, now, i);
    }
    LossMetrics metrics = step.metrics();
    List<TokenMarks> marks = step.marks(batch);
    assertThat(share(marks, TokenMarks::low, metrics.tokens())).isEqualTo(metrics.clippedLow());
    assertThat(share(marks, TokenMarks::high, metrics.tokens())).isEqualTo(metrics.clippedHigh());
    assertThat(share(marks, TokenMarks::cut, metrics.tokens())).isEqualTo(metrics.truncated());
    assertThat(share(marks, TokenMarks::masked, metrics.tokens()))
        .isEqualTo(metrics.correctionMasked());
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void marks_ratioOutsideTheRange_areOnThatTokenOrItsWholeSequence(long seed) {
    Random random = new Random(seed);
    LossSettings s = drawn(random);
    List<TrainingSequence> batch = sequences(random);
    List<double[]> now = logProbs(random, batch);
    StepLoss step = new StepLoss();
    for (int i = 0; i < batch.size(); i++) {
      add(step, s, batch, now, i);
      float[] weights = batch.get(i).lossWeights();
      List<Double> logRatios = new ArrayList<>();
      List<Integer> below = new ArrayList<>();
      List<Integer> above = new ArrayList<>();
      for (int t = 0; t < weights.length; t++) {
        if (weights[t] != 0) {
          logRatios.add(now.get(i)[t] - batch.get(i).behaviourLogProbs()[t]);
        }
      }
      double mean = logRatios.stream().mapToDouble(Double::doubleValue).average().orElse(0);
      for (int t = 0; t < weights.length; t++) {
        if (weights[t] != 0) {
          double own = now.get(i)[t] - batch.get(i).behaviourLogProbs()[t];
          double ratio = Math.exp(s.objective() instanceof Objective.Gspo ? mean : own);
          if (ratio < 1 - LOW) {
            below.add(t);
          } else if (ratio > 1 + HIGH) {
            above.add(t);
          }
        }
      }
      TokenMarks marks = step.marks(batch).get(i);
      assertThat(tokens(marks.low())).isEqualTo(below);
      assertThat(tokens(marks.high())).isEqualTo(above);
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void marks_stepInParts_areThoseOfTheWhole(long seed) {
    Random random = new Random(seed);
    LossSettings s = drawn(random);
    List<TrainingSequence> batch = sequences(random);
    List<double[]> now = logProbs(random, batch);
    StepLoss whole = new StepLoss();
    StepLoss first = new StepLoss();
    StepLoss second = new StepLoss();
    int border = random.nextInt(batch.size() + 1);
    for (int i = 0; i < batch.size(); i++) {
      add(whole, s, batch, now, i);
      add(i < border ? first : second, s, batch, now, i);
    }
    List<TokenMarks> parts = new ArrayList<>(first.part(batch.subList(0, border)).marks());
    parts.addAll(second.part(batch.subList(border, batch.size())).marks());
    assertThat(parts).isEqualTo(whole.marks(batch));
  }

  /** Ratios e^0.1, e^-0.5, 1 and e^0.8, 1. */
  @Test
  void marks_goldenBatch_areRunsFromTheCompletionsStart() {
    List<TrainingSequence> batch = batch(LossWeights.tokenMean(ALL));
    StepLoss step = new StepLoss();
    LossSettings s = settings(new Objective.Dapo(), LOW, HIGH, new Correction.None(), 0);
    for (int i = 0; i < 2; i++) {
      add(step, s, batch, LOG_PROBS, i);
    }
    TokenMarks low = new TokenMarks(List.of(new MarkedRun(1, 1)), List.of(), List.of(), List.of());
    TokenMarks high = new TokenMarks(List.of(), List.of(new MarkedRun(0, 1)), List.of(), List.of());
    assertThat(step.marks(batch)).containsExactly(low, high);
    List<TrainingSequence> others = batch(LossWeights.tokenMean(ALL));
    assertThat(step.marks(others)).containsExactly(TokenMarks.NONE, TokenMarks.NONE);
  }

  @Test
  void groups_marksOfOtherCompletions_areRefused() {
    assertThatThrownBy(() -> GroupTokenMarks.of(List.of(), List.of(TokenMarks.NONE)))
        .hasMessage("a step on 0 sequences has as many of their marks, not 1");
  }
}
