package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.StepLoss;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.StepOutcome.Stepped;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ToyTrainerTest {
  private static final ToySettings SETTINGS = new ToySettings("ab", 8, 2, 3, Duration.ZERO);
  private static final LogitTable MODEL = new LogitTable(SETTINGS, 4);
  private static final List<KlEstimator> ESTIMATORS = List.of(KlEstimator.values());
  private static final OptimizerSettings STILL = new OptimizerSettings(0, 0.9, 0.999, 1e-8, 0, 0);

  /** With both betas 0 and so large an epsilon, a step subtracts the gradient itself. */
  private static final OptimizerSettings PLAIN_DESCENT =
      new OptimizerSettings(1e9, 0, 0, 1e9, 0, 0);

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void train_anyLoss_descendsTheGradientOfTheLoss(long seed) {
    Random random = new Random(seed);
    LossSettings loss = randomLoss(random);
    float[] weights = randomWeights(random);
    float[] reference = randomWeights(random);
    List<TrainingSequence> batch = randomBatch(random);
    while (nearKink(batch, logProbs(weights, batch, loss.temperature()), loss)) {
      batch = randomBatch(random);
    }

    float[] after = weights.clone();
    Stepped step = step(after, reference, batch, loss, PLAIN_DESCENT);

    List<double[]> start = logProbs(weights, batch, loss.temperature());
    List<double[]> references = logProbs(reference, batch, loss.temperature());
    float width = 1f / 1024; // a power of two, so that adding it rounds little
    double norm = 0;
    for (int i = 0; i < weights.length; i++) {
      double[] losses = new double[2];
      for (int side = 0; side < 2; side++) {
        float[] moved = weights.clone();
        moved[i] += side == 0 ? -width : width;
        List<double[]> logProbs = logProbs(moved, batch, loss.temperature());
        losses[side] = StepLoss.of(loss, batch, logProbs, start, references).loss();
      }
      double descended = (double) weights[i] - after[i];
      assertThat(descended).isCloseTo((losses[1] - losses[0]) / (2 * width), within(1e-4));
      norm += descended * descended;
    }
    assertThat(step.gradientNorm()).isCloseTo(Math.sqrt(norm), within(1e-4));
    assertThat(step.loss())
        .isCloseTo(StepLoss.of(loss, batch, start, start, references).loss(), within(1e-5));
  }

  @Test
  void train_tokensWithoutLossWeight_doNotMatter() {
    float[] first = randomWeights(new Random(1));
    float[] second = first.clone();
    float[] behaviour = {-1, -1};
    TrainingSequence one =
        new TrainingSequence(new int[] {2}, new int[] {3, 2}, behaviour, new float[] {0.5f, 0}, 1);
    TrainingSequence other =
        new TrainingSequence(new int[] {2}, new int[] {3, 1}, behaviour, new float[] {0.5f, 0}, 1);

    Stepped left = step(first, first, List.of(one), Addition.LOSS, PLAIN_DESCENT);
    Stepped right = step(second, second, List.of(other), Addition.LOSS, PLAIN_DESCENT);

    assertThat(Addition.untimed(left)).isEqualTo(Addition.untimed(right));
    assertThat(left.metrics().tokens()).isEqualTo(1);
    assertThat(first).isEqualTo(second);
  }

  @Test
  void imitate_uniformPolicy_hasTheEntropyAndLossOfFourTokens() {
    ToyTrainer trainer =
        new ToyTrainer(SETTINGS, MODEL, new float[MODEL.parameters()], new float[0]);
    TrainingSequence sequence =
        new TrainingSequence(
            new int[] {2}, new int[] {3, 1}, new float[2], new float[] {0.5f, 0.5f}, 0);

    Stepped step = (Stepped) trainer.trainSupervised(List.of(sequence), STILL);

    assertThat(step.loss()).isCloseTo(Math.log(4), within(1e-7));
    assertThat(step.entropy()).isCloseTo(Math.log(4), within(1e-12));
    assertThat(step.gradientNorm()).isCloseTo(Math.sqrt(2 * 0.25 * 0.75), within(1e-12));
    assertThat(step.metrics().supervisedTokens()).isEqualTo(2);
  }

  @Test
  void train_lossThatOverflows_isSkippedAndChangesNothing() {
    TrainingSequence broken =
        new TrainingSequence(
            new int[] {2}, new int[] {3}, new float[] {-1000}, new float[] {1}, -1);
    TrainingSequence sound =
        new TrainingSequence(new int[] {2}, new int[] {3}, new float[] {-1}, new float[] {1}, 1);
    ToyTrainer skipping = new ToyTrainer(SETTINGS, MODEL, 7);
    ToyTrainer straight = new ToyTrainer(SETTINGS, MODEL, 7);

    StepOutcome outcome = skipping.train(List.of(broken), Addition.LOSS, Addition.rate(0.1));
    skipping.train(List.of(sound), Addition.LOSS, Addition.rate(0.1));
    straight.train(List.of(sound), Addition.LOSS, Addition.rate(0.1));

    assertThat(outcome).isInstanceOf(StepOutcome.Skipped.class);
    assertThat(digest(skipping)).isEqualTo(digest(straight));
  }

  @Test
  void train_weightsThatAreNotFinite_isSkipped() {
    float[] weights = new float[MODEL.parameters()];
    Arrays.fill(weights, Float.NaN);
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, weights, new float[0]);
    List<TrainingSequence> batch = randomBatch(new Random(1));

    StepOutcome skipped = new StepOutcome.Skipped("a log-probability of the policy is not finite");
    assertThat(trainer.train(batch, Addition.LOSS, STILL)).isEqualTo(skipped);
    assertThat(trainer.trainSupervised(batch, STILL)).isEqualTo(skipped);
  }

  @Test
  void train_penaltyWithoutReference_saysWhatToDo() {
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, 1);
    LossSettings penalised =
        new LossSettings(new Objective.Grpo(), 0, 0, new Correction.None(), 0.1, KlEstimator.K3, 1);

    assertThatThrownBy(() -> trainer.train(randomBatch(new Random(1)), penalised, STILL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "a KL coefficient of 0.1 needs a reference policy; freeze it before the first step");
  }

  @Test
  void freezeReference_beforeSteps_staysWhereItWas() {
    LossSettings penalised =
        new LossSettings(new Objective.Grpo(), 0, 0, new Correction.None(), 0.1, KlEstimator.K3, 1);
    List<TrainingSequence> batch = randomBatch(new Random(1));
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, 1);
    trainer.freezeReference();

    Stepped first = (Stepped) trainer.train(batch, penalised, Addition.rate(0.1));
    Stepped second = (Stepped) trainer.train(batch, penalised, Addition.rate(0.1));
    trainer.freezeReference();
    Stepped third = (Stepped) trainer.train(batch, penalised, Addition.rate(0.1));

    assertThat(first.metrics().referenceKl()).isZero();
    assertThat(second.metrics().referenceKl()).isGreaterThan(1e-4);
    assertThat(third.metrics().referenceKl()).isZero();
  }

  @Test
  void snapshot_always_isACopyWithADigestOfItsContent() {
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, 1);
    WeightSnapshot before = trainer.snapshot(new WeightVersion(3));
    float first = before.tensors().getFirst().data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
    trainer.trainSupervised(randomBatch(new Random(1)), Addition.rate(0.1));

    assertThat(before.version()).isEqualTo(new WeightVersion(3));
    assertThat(before.digest()).matches("[0-9a-f]{64}").isNotEqualTo(digest(trainer));
    assertThat(before.digest()).isEqualTo(digest(new ToyTrainer(SETTINGS, MODEL, 1)));
    assertThat(before.digest()).isNotEqualTo(digest(new ToyTrainer(SETTINGS, MODEL, 2)));
    assertThat(before.tensors().getFirst().shape()).containsExactly(2L, 3L, 4L);
    assertThat(before.tensors().getFirst().data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0))
        .isEqualTo(first);
    assertThat(before.tensors().getFirst().data().isReadOnly()).isTrue();
  }

  /** One step on the weights, in place. */
  private static Stepped step(
      float[] weights,
      float[] reference,
      List<TrainingSequence> batch,
      LossSettings loss,
      OptimizerSettings optimisation) {
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, weights, reference);
    return (Stepped) trainer.train(batch, loss, optimisation);
  }

  private static List<double[]> logProbs(
      float[] weights, List<TrainingSequence> batch, double temperature) {
    List<double[]> all = new ArrayList<>();
    for (TrainingSequence sequence : batch) {
      double[] logProbs = new double[sequence.completion().length];
      for (int t = 0; t < logProbs.length; t++) {
        int row = MODEL.row(sequence.prompt(), t);
        logProbs[t] = MODEL.logProbs(weights, row, temperature)[sequence.completion()[t]];
      }
      all.add(logProbs);
    }
    return all;
  }

  /** A finite difference across an end of the clip range is no derivative. */
  private static boolean nearKink(
      List<TrainingSequence> batch, List<double[]> logProbs, LossSettings loss) {
    boolean near = false;
    for (int s = 0; loss.clip().active() && s < batch.size(); s++) {
      for (int t = 0; t < logProbs.get(s).length; t++) {
        double ratio = Math.exp(logProbs.get(s)[t] - batch.get(s).behaviourLogProbs()[t]);
        near |= Math.abs(ratio - 1 + loss.clip().low()) < 0.01;
        near |= Math.abs(ratio - 1 - loss.clip().high()) < 0.01;
      }
    }
    return near;
  }

  private static String digest(ToyTrainer trainer) {
    return trainer.snapshot(WeightVersion.BASE).digest();
  }

  private static LossSettings randomLoss(Random random) {
    Correction correction =
        random.nextBoolean() ? new Correction.None() : new Correction.TruncatedImportance(2);
    double clip = random.nextInt(4) == 0 ? 0.2 : 0;
    return new LossSettings(
        new Objective.Dapo(),
        clip,
        clip,
        correction,
        random.nextInt(2) * 0.3,
        ESTIMATORS.get(random.nextInt(ESTIMATORS.size())),
        0.5 + random.nextDouble());
  }

  private static float[] randomWeights(Random random) {
    float[] weights = new float[MODEL.parameters()];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) random.nextGaussian();
    }
    return weights;
  }

  private static List<TrainingSequence> randomBatch(Random random) {
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < 4; s++) {
      int length = 1 + random.nextInt(3);
      int[] completion = new int[length];
      float[] behaviour = new float[length];
      float[] weights = new float[length];
      for (int t = 0; t < length; t++) {
        completion[t] = random.nextInt(4);
        behaviour[t] = -2 * random.nextFloat();
        weights[t] = random.nextInt(4) == 0 ? 0 : 0.2f * random.nextFloat();
      }
      batch.add(
          new TrainingSequence(
              new int[] {random.nextInt(4), random.nextInt(4)},
              completion,
              behaviour,
              weights,
              random.nextGaussian()));
    }
    return batch;
  }
}
