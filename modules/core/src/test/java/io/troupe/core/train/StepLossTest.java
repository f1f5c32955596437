package io.troupe.core.train;

import static io.troupe.core.loss.GoldenBatch.ALL;
import static io.troupe.core.loss.GoldenBatch.LOG_PROBS;
import static io.troupe.core.loss.GoldenBatch.REFERENCE;
import static io.troupe.core.loss.GoldenBatch.batch;
import static io.troupe.core.loss.GoldenBatch.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.Objective.Dapo;
import io.troupe.core.loss.Objective.DrGrpo;
import io.troupe.core.loss.Objective.Grpo;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class StepLossTest {
  /** The error of single-precision weights and behaviour log-probabilities. */
  private static final Offset<Double> SINGLE = within(1e-7);

  private static final LossSettings GRPO = settings(new Grpo(), .2, .2, new None(), .1);

  private static LossMetrics step(LossSettings s, List<boolean[]> trainable) {
    return StepLoss.of(
        s, batch(LossWeights.of(s.objective(), trainable)), LOG_PROBS, LOG_PROBS, REFERENCE);
  }

  @Test
  void step_goldenVector_givesTheLossOfEachObjective() {
    assertThat(step(GRPO, ALL).loss()).isCloseTo(0.356432, within(5e-7));
    assertThat(step(settings(new DrGrpo(100), 0, 0, new None(), .1), ALL).loss())
        .isCloseTo(0.002624424, within(1e-9));
    assertThat(step(settings(new Dapo(), .2, .28, new None(), 0), ALL).loss())
        .isCloseTo(0.102767870, SINGLE);
    assertThat(step(settings(new Dapo(), .2, .28, new None(), .1), ALL).loss())
        .isCloseTo(0.104976941, SINGLE);
  }

  @Test
  void step_goldenVector_givesMeansOverItsTokens() {
    LossMetrics step = step(GRPO, ALL);
    assertThat(step.tokens()).isEqualTo(5);
    assertThat(step.clippedLow()).isEqualTo(.2);
    assertThat(step.clippedHigh()).isEqualTo(.2);
    // x - 1 - log x at the ratios e^0.1, e^-0.5, 1, e^0.8, 1
    assertThat(step.behaviourKl()).isCloseTo((0.005170918 + 0.106530660 + 0.425540928) / 5, SINGLE);
    assertThat(step.referenceKl()).isCloseTo((0.021403 + 0.070320 + 0.018731) / 5, within(5e-7));
    assertThat(step.referenceKlMax()).isCloseTo(0.070320, within(5e-7));
    assertThat(step.gapMax()).isCloseTo(.8, SINGLE);
  }

  @Test
  void step_staleTokens_countInNothing() {
    LossMetrics step =
        step(GRPO, List.of(new boolean[] {true, false, false}, new boolean[] {false, false}));
    assertThat(step.loss()).isCloseTo(-Math.exp(.1), SINGLE);
    assertThat(step.tokens()).isEqualTo(1);
    assertThat(step.clippedLow()).isZero();
    assertThat(step.clippedHigh()).isZero();
    assertThat(step.behaviourKl()).isCloseTo(0.005170918, SINGLE);
    assertThat(step.referenceKl()).isZero();
    assertThat(step.gapMax()).isCloseTo(.1, SINGLE);
  }

  @Test
  void step_gapBelowZero_isReportedAsItsSize() {
    LossMetrics step =
        step(GRPO, List.of(new boolean[] {false, true, false}, new boolean[] {false, false}));
    assertThat(step.gapMax()).isEqualTo(.5);
    assertThat(step.clippedLow()).isEqualTo(1);
  }

  @Test
  void step_noTokenOfWeight_isZeroThroughout() {
    LossMetrics step =
        step(GRPO, List.of(new boolean[] {false, false, false}, new boolean[] {false, false}));
    assertThat(step)
        .isEqualTo(new LossMetrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void step_truncatedImportance_readsTheStepsStart() {
    LossSettings s = settings(new Dapo(), 0, 0, new TruncatedImportance(2), 0);
    List<double[]> start = List.of(new double[] {-1.1, -1.5, -.5}, new double[] {-.5, -1.2});
    LossMetrics step =
        StepLoss.of(s, batch(LossWeights.tokenMean(ALL)), LOG_PROBS, start, LOG_PROBS);
    // Only in the fourth token does the start differ from the sampler: its weight e^1 is cut to 2.
    double sum = Math.exp(.1) + Math.exp(-.5) + 1 - 2 * Math.exp(-.2) - 1;
    assertThat(step.loss()).isCloseTo(-sum / 5, SINGLE);
  }

  @Test
  void imitation_goldenVector_isTheMeanNegativeLogLikelihood() {
    List<TrainingSequence> batch = batch(LossWeights.tokenMean(ALL));
    assertThat(imitation(batch, LOG_PROBS)).isCloseTo(1.08, SINGLE);
  }

  @Test
  void imitation_tokenOfNoWeight_isNotLookedAt() {
    List<boolean[]> some = List.of(new boolean[] {true, false, true}, new boolean[] {false, true});
    List<double[]> logProbs =
        List.of(new double[] {-1, Double.NaN, -.5}, new double[] {Double.NaN, -1.2});
    assertThat(imitation(batch(LossWeights.tokenMean(some)), logProbs)).isCloseTo(.9, SINGLE);
  }

  @Test
  void add_shapesDiffer_isRefusedByName() {
    TrainingSequence sequence = batch(LossWeights.tokenMean(ALL)).get(1);
    double[] good = LOG_PROBS.get(1);
    double[] bad = {-1};
    StepLoss step = new StepLoss();
    assertThatThrownBy(() -> step.add(GRPO, sequence, new StepLoss.Computed(bad, good, good)))
        .hasMessage("a sequence of 2 completion tokens needs as many log-probabilities, not 1");
    assertThatThrownBy(() -> step.add(GRPO, sequence, new StepLoss.Computed(good, bad, good)))
        .hasMessage(
            "a sequence of 2 completion tokens needs as many log-probabilities of the step's"
                + " start, not 1");
    assertThatThrownBy(() -> step.add(GRPO, sequence, new StepLoss.Computed(good, good, bad)))
        .hasMessage(
            "a sequence of 2 completion tokens needs as many reference log-probabilities, not 1");
    assertThatThrownBy(() -> step.supervised(sequence, 1, bad))
        .hasMessage("a sequence of 2 completion tokens needs as many log-probabilities, not 1");
  }

  /** The teacher speaks of the first sequence alone, whose three tokens count 5/3 for it. */
  @Test
  void add_sequenceWithoutATeacher_isOutOfTheDistillationAndItsMean() {
    LossSettings s =
        settings(new Dapo(), 0, 0, new None(), 0).with(new Distillation.Jsd(2, .9, 2), 0);
    List<TrainingSequence> batch = batch(LossWeights.of(s.objective(), ALL));
    float[] row = {(float) Math.log(.5), (float) Math.log(.25)};
    TeacherTokens tokens =
        new TeacherTokens(new int[][] {{0, 1}, {0, 1}, {0, 1}}, new float[][] {row, row, row});
    double[] policy = {Math.log(.3), Math.log(.1)};
    double[][] ofTeacher = {policy, policy, policy};
    StepLoss step = new StepLoss();
    StepLoss.Derivatives taught =
        step.add(
            s,
            batch.get(0).withTeacher(tokens).withTeacherWeight(5 / 3.),
            new StepLoss.Computed(
                LOG_PROBS.get(0), LOG_PROBS.get(0), LOG_PROBS.get(0), ofTeacher, new double[0]));
    StepLoss.Derivatives passedOver =
        step.add(
            s,
            batch.get(1).withTeacherWeight(0),
            new StepLoss.Computed(LOG_PROBS.get(1), LOG_PROBS.get(1), LOG_PROBS.get(1)));
    assertThat(taught.byTeacherToken()).hasDimensions(3, 2);
    assertThat(passedOver.byTeacherToken()).isEmpty();
    assertThat(step.metrics().distillation()).isCloseTo(0.022141277, within(5e-9));
    assertThat(step.metrics().loss()).isCloseTo(2 * 0.022141277, within(1e-8));
  }

  private static double imitation(List<TrainingSequence> batch, List<double[]> logProbs) {
    StepLoss step = new StepLoss();
    for (int i = 0; i < batch.size(); i++) {
      step.supervised(batch.get(i), 1, logProbs.get(i));
    }
    return step.loss();
  }
}
