package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.Entropy;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.ScalarDistillation;
import io.troupe.core.loss.SequenceMask;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.LossMetrics;
import io.troupe.core.train.StepLoss;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Losses, statistics and gradients of steps against the plain decoder's log-probabilities.
 *
 * <p>The expected gradient is the loss's derivative by each log-probability, times the Jacobian of
 * the log-probabilities by every weight, which central differences of the plain decoder give. The
 * program's gradient is AdamW's first moment after a step with beta1 0; with a learning rate of 0
 * the weights stay.
 */
final class PolicyLossTest {
  private static final OptimizerSettings LOOK = new OptimizerSettings(0, 0, .9, 1e-8, 0, 0);
  private static final double TEMPERATURE = .8;

  /** Tokens of a teacher at each position. */
  private static final int TOP_K = 3;

  /** The forward and the reverse KL divergence, two between them, and that of self-distillation. */
  private static final List<Distillation> DISTILLATIONS =
      List.of(
          new Distillation.Jsd(.5, 0, TOP_K),
          new Distillation.Jsd(.5, .3, TOP_K),
          new Distillation.Jsd(.5, .9, TOP_K),
          new Distillation.Jsd(.5, 1, TOP_K),
          new Distillation.ForwardKl(.5, TOP_K, false));

  /**
   * Derivatives by the seed of a case: thousands of passes of the plain decoder, which tests share.
   */
  private static final Map<Long, List<Map<String, double[]>>> JACOBIANS = new HashMap<>();

  /** A trainer whose reference policy is not its policy, and what the plain decoder says. */
  private record Case(
      long seed,
      DjlTrainer trainer,
      List<TrainingSequence> batch,
      List<double[]> logProbs,
      List<double[]> reference)
      implements AutoCloseable {
    static Case of(long seed) {
      Random random = new Random(seed);
      DjlTrainer trainer = (DjlTrainer) Fixtures.policy(TINY).newTrainer(seed);
      List<TrainingSequence> drawn =
          seed % 2 == 0 ? Fixtures.batch(random, 4) : Fixtures.groups(random, 2, 3);
      trainer.freezeReference();
      List<double[]> reference = plainLogProbs(Fixtures.weights(trainer), drawn);
      for (int step = 0; step < 3; step++) {
        trainer.trainSupervised(drawn, Fixtures.adam(.02));
      }
      Map<String, double[]> weights = Fixtures.weights(trainer);
      List<double[]> logProbs = plainLogProbs(weights, drawn);
      List<TrainingSequence> batch = new ArrayList<>();
      for (int i = 0; i < drawn.size(); i++) {
        float[] behaviour = new float[logProbs.get(i).length];
        for (int t = 0; t < behaviour.length; t++) {
          behaviour[t] = (float) (logProbs.get(i)[t] + .4 * random.nextGaussian());
        }
        int[] staleness = new int[behaviour.length];
        Arrays.setAll(staleness, _ -> random.nextInt(3));
        batch.add(Fixtures.withBehaviour(drawn.get(i), behaviour).sampledBehind(staleness));
      }
      return new Case(seed, trainer, batch, logProbs, reference);
    }

    List<Map<String, double[]>> jacobian() {
      return JACOBIANS.computeIfAbsent(seed, _ -> plainJacobian(Fixtures.weights(trainer), batch));
    }

    @Override
    public void close() {
      trainer.close();
    }
  }

  private static List<double[]> plainLogProbs(
      Map<String, double[]> weights, List<TrainingSequence> batch) {
    ReferenceDecoder decoder = new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), weights);
    return batch.stream().map(s -> decoder.logProbs(s, TEMPERATURE)).toList();
  }

  /** One map a sequence: of each weight, the derivatives of its tokens, token by token. */
  private static List<Map<String, double[]>> plainJacobian(
      Map<String, double[]> weights, List<TrainingSequence> batch) {
    double h = 1e-5;
    List<Map<String, double[]>> jacobian = new ArrayList<>();
    batch.forEach(s -> jacobian.add(new TreeMap<>()));
    weights.forEach(
        (name, values) -> {
          for (int i = 0; i < batch.size(); i++) {
            jacobian.get(i).put(name, new double[values.length * batch.get(i).completion().length]);
          }
          for (int j = 0; j < values.length; j++) {
            double value = values[j];
            values[j] = value + h;
            List<double[]> above = plainLogProbs(weights, batch);
            values[j] = value - h;
            List<double[]> below = plainLogProbs(weights, batch);
            values[j] = value;
            for (int i = 0; i < batch.size(); i++) {
              double[] into = Fixtures.of(jacobian.get(i), name);
              int tokens = above.get(i).length;
              for (int t = 0; t < tokens; t++) {
                into[j * tokens + t] = (above.get(i)[t] - below.get(i)[t]) / (2 * h);
              }
            }
          }
        });
    return jacobian;
  }

  private static LossSettings settings(
      Objective objective, double[] clip, Correction correction, double beta, KlEstimator k) {
    return new LossSettings(objective, clip[0], clip[1], correction, beta, k, TEMPERATURE);
  }

  /**
   * Every objective with every correction and mask it goes with, clipped once, twice and not,
   * penalised and not.
   */
  static List<LossSettings> settings() {
    List<LossSettings> all = new ArrayList<>();
    List<Correction> corrections =
        List.of(
            new Correction.None(),
            new Correction.TruncatedImportance(2),
            new Correction.TruncatedImportance(.9),
            new Correction.IcePop(.7, 1.5),
            new Correction.Decoupled(1.2, Correction.OverCap.MASKED),
            new Correction.Decoupled(1.2, Correction.OverCap.TRUNCATED));
    List<SequenceMask> masks =
        List.of(
            new SequenceMask.None(),
            new SequenceMask.Geometric(.9, 1.2),
            new SequenceMask.Outlier(.5, 1.6));
    List<Objective> objectives =
        List.of(
            new Objective.Grpo(),
            new Objective.DrGrpo(8),
            new Objective.Dapo(),
            new Objective.Gspo(),
            new Objective.Cispo(),
            new Objective.Sapo(1, 1.05),
            new Objective.Gmpo(),
            new Objective.Dppo());
    for (Objective objective : objectives) {
      for (Correction correction : corrections) {
        if (objective.correctsItself() && !(correction instanceof Correction.None)) {
          continue;
        }
        if (objective.takesDualClip()) {
          all.add(dual(settings(objective, new double[] {.2, .28}, correction, 0, KlEstimator.K3)));
        }
        for (double[] clip : new double[][] {{0, 0}, {.2, .28}, {0, .1}}) {
          for (SequenceMask mask : masks) {
            all.add(settings(objective, clip, correction, 0, KlEstimator.K3).with(mask));
          }
          for (KlEstimator estimator : KlEstimator.values()) {
            all.add(settings(objective, clip, correction, .3, estimator));
          }
        }
      }
    }
    return all;
  }

  /** With a second bound for ratios above 1.05, which the batches have on both sides. */
  private static LossSettings dual(LossSettings s) {
    return new LossSettings(
        s.objective(),
        s.baseline(),
        new LossSettings.Clip(s.clip().low(), s.clip().high(), 1.05),
        s.offPolicy(),
        s.kl(),
        s.shares(),
        s.overlong(),
        s.temperature());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void train_everyLoss_agreesWithTheScalarReference(long seed) {
    try (Case given = Case.of(seed)) {
      for (LossSettings s : settings()) {
        StepLoss scalar = scalar(given, s);
        LossMetrics expected = scalar.metrics();
        StepOutcome.Stepped stepped = stepped(given.trainer.train(given.batch, s, LOOK));
        LossMetrics actual = stepped.metrics();
        assertThat(actual.loss()).as("%s", s).isCloseTo(expected.loss(), within(1e-5));
        assertThat(actual.behaviourKl()).isCloseTo(expected.behaviourKl(), within(1e-5));
        assertThat(actual.gapMean()).isCloseTo(expected.gapMean(), within(1e-5));
        assertThat(actual.gapP99()).isCloseTo(expected.gapP99(), within(1e-5));
        assertThat(actual.gapMax()).isCloseTo(expected.gapMax(), within(1e-5));
        assertThat(actual.referenceKl()).isCloseTo(expected.referenceKl(), within(1e-5));
        assertThat(actual.referenceKlMax()).isCloseTo(expected.referenceKlMax(), within(1e-5));
        assertThat(actual.ratioP50()).isCloseTo(expected.ratioP50(), within(1e-5));
        assertThat(actual.ratioMax()).isCloseTo(expected.ratioMax(), within(1e-5));
        assertThat(actual.effectiveShare()).isCloseTo(expected.effectiveShare(), within(1e-5));
        assertThat(actual.clippedLow()).isEqualTo(expected.clippedLow());
        assertThat(actual.clippedHigh()).isEqualTo(expected.clippedHigh());
        assertThat(actual.truncated()).isEqualTo(expected.truncated());
        assertThat(actual.correctionMasked()).isEqualTo(expected.correctionMasked());
        assertThat(actual.tokens()).isEqualTo(expected.tokens());
        assertThat(stepped.marks()).isEqualTo(scalar.marks(given.batch));
        Map<String, double[]> gradient = gradient(given, s);
        assertGradient(given.trainer, gradient, s);
        double norm = 0;
        for (double[] values : gradient.values()) {
          for (double value : values) {
            norm += value * value;
          }
        }
        assertThat(stepped.gradientNorm())
            .isCloseTo(Math.sqrt(norm), within(1e-5 * (1 + Math.sqrt(norm))));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void train_withABonusForEntropy_addsItsGradient(long seed) {
    try (Case given = Case.of(seed)) {
      double alpha = .25;
      LossSettings without =
          settings(
              new Objective.Grpo(),
              new double[] {.2, .28},
              new Correction.None(),
              0,
              KlEstimator.K3);
      Map<String, double[]> weights = Fixtures.weights(given.trainer);
      Map<String, double[]> gradient = gradient(given, without);
      weights.forEach(
          (name, values) -> {
            double h = 1e-5;
            for (int j = 0; j < values.length; j++) {
              double value = values[j];
              values[j] = value + h;
              double above = weightedEntropy(weights, given.batch);
              values[j] = value - h;
              double below = weightedEntropy(weights, given.batch);
              values[j] = value;
              Fixtures.of(gradient, name)[j] -= alpha * (above - below) / (2 * h);
            }
          });
      double expected =
          scalar(given, without).loss() - alpha * weightedEntropy(weights, given.batch);

      LossSettings with = without.withEntropy(alpha);
      StepOutcome.Stepped stepped = stepped(given.trainer.train(given.batch, with, LOOK));

      assertThat(stepped.loss()).isCloseTo(expected, within(1e-5));
      assertGradient(given.trainer, gradient, with);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void train_withATeacher_addsTheGradientOfItsDivergence(long seed) {
    try (Case given = Case.of(seed)) {
      List<TrainingSequence> taught = taught(given.batch, new Random(seed));
      LossSettings without =
          settings(
              new Objective.Grpo(),
              new double[] {.2, .28},
              new Correction.None(),
              0,
              KlEstimator.K3);
      Map<String, double[]> weights = Fixtures.weights(given.trainer);
      List<Map<String, double[]>> gradients =
          DISTILLATIONS.stream().map(_ -> gradient(given, without)).toList();
      weights.forEach(
          (name, values) -> {
            double h = 1e-5;
            for (int j = 0; j < values.length; j++) {
              double value = values[j];
              values[j] = value + h;
              double[] above = weightedDivergences(weights, taught);
              values[j] = value - h;
              double[] below = weightedDivergences(weights, taught);
              values[j] = value;
              for (int i = 0; i < above.length; i++) {
                Fixtures.of(gradients.get(i), name)[j] += (above[i] - below[i]) / (2 * h);
              }
            }
          });
      double[] divergences = weightedDivergences(weights, taught);
      for (int i = 0; i < divergences.length; i++) {
        LossSettings with = without.with(DISTILLATIONS.get(i), 1);
        StepOutcome.Stepped stepped = stepped(given.trainer.train(taught, with, LOOK));

        assertThat(stepped.loss())
            .as("%s", with)
            .isCloseTo(scalar(given, without).loss() + divergences[i], within(1e-5));
        assertGradient(given.trainer, gradients.get(i), with);
      }
    }
  }

  /** A teacher that finds other tokens likely than the policy, with half the weight of the loss. */
  private static List<TrainingSequence> taught(List<TrainingSequence> batch, Random random) {
    return batch.stream()
        .map(
            s -> {
              int[][] ids = new int[s.completion().length][];
              float[][] logProbs = new float[ids.length][TOP_K];
              for (int t = 0; t < ids.length; t++) {
                ids[t] =
                    random.ints(0, TOKENIZER.vocabularySize()).distinct().limit(TOP_K).toArray();
                for (int k = 0; k < TOP_K; k++) {
                  logProbs[t][k] = (float) Math.log((.2 + .6 * random.nextDouble()) / TOP_K);
                }
              }
              return s.withTeacher(new TeacherTokens(ids, logProbs)).withTeacherWeight(.5);
            })
        .toList();
  }

  /**
   * Returns, for each of the {@link #DISTILLATIONS}, the sum over the tokens of loss weight, the
   * teacher's weight and the scalar term.
   */
  private static double[] weightedDivergences(
      Map<String, double[]> weights, List<TrainingSequence> batch) {
    double[] sums = new double[DISTILLATIONS.size()];
    for (TrainingSequence s : batch) {
      double[][] logProbs = allLogProbs(weights, s);
      for (int t = 0; t < s.completion().length; t++) {
        double[] at = logProbs[t];
        double[] ofTeacher =
            Arrays.stream(s.teacher().ids()[t]).mapToDouble(id -> at[id]).toArray();
        for (int i = 0; i < sums.length; i++) {
          sums[i] +=
              s.lossWeights()[t]
                  * s.teacherWeight()
                  * ScalarDistillation.token(
                          DISTILLATIONS.get(i), s.teacher().logProbs()[t], ofTeacher)
                      .value();
        }
      }
    }
    return sums;
  }

  /** The log-probabilities of the vocabulary at each completion token. */
  private static double[][] allLogProbs(Map<String, double[]> weights, TrainingSequence s) {
    ReferenceDecoder decoder = new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), weights);
    double[][] logits =
        decoder.logits(
            IntStream.concat(Arrays.stream(s.prompt()), Arrays.stream(s.completion())).toArray());
    return IntStream.range(0, s.completion().length)
        .mapToObj(t -> ReferenceDecoder.logSoftmax(logits[s.prompt().length + t - 1], TEMPERATURE))
        .toArray(double[][]::new);
  }

  /** The sum over the tokens of loss weight times entropy. */
  private static double weightedEntropy(
      Map<String, double[]> weights, List<TrainingSequence> batch) {
    double sum = 0;
    for (TrainingSequence s : batch) {
      double[][] logProbs = allLogProbs(weights, s);
      for (int t = 0; t < logProbs.length; t++) {
        sum += s.lossWeights()[t] * Entropy.of(logProbs[t]);
      }
    }
    return sum;
  }

  private static StepLoss scalar(Case given, LossSettings s) {
    StepLoss step = new StepLoss();
    for (int i = 0; i < given.batch.size(); i++) {
      double[] now = given.logProbs.get(i);
      step.add(s, given.batch.get(i), new StepLoss.Computed(now, now, given.reference.get(i)));
    }
    return step;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void imitate_randomBatch_agreesWithTheScalarReference(long seed) {
    try (Case given = Case.of(seed)) {
      StepLoss expected = new StepLoss();
      ReferenceDecoder plain =
          new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.weights(given.trainer));
      given.batch.forEach(s -> expected.supervised(s, 1, plain.logProbs(s, 1)));
      StepOutcome.Stepped actual = stepped(given.trainer.trainSupervised(given.batch, LOOK));
      assertThat(actual.loss()).isCloseTo(expected.loss(), within(1e-5));
      assertThat(actual.metrics().supervisedTokens())
          .isEqualTo(expected.metrics().supervisedTokens());
      assertThat(actual.metrics().tokens()).isZero();
    }
  }

  private static Map<String, double[]> gradient(Case given, LossSettings s) {
    Map<String, double[]> gradient = new TreeMap<>();
    for (int i = 0; i < given.batch.size(); i++) {
      TrainingSequence sequence = given.batch.get(i);
      int tokens = sequence.completion().length;
      double[] logProbs = given.logProbs.get(i);
      double[] factor =
          new StepLoss()
              .add(s, sequence, new StepLoss.Computed(logProbs, logProbs, given.reference.get(i)))
              .byLogProb();
      given
          .jacobian()
          .get(i)
          .forEach(
              (name, derivatives) -> {
                double[] sum =
                    gradient.computeIfAbsent(name, _ -> new double[derivatives.length / tokens]);
                for (int j = 0; j < derivatives.length; j++) {
                  sum[j / tokens] += factor[j % tokens] * derivatives[j];
                }
              });
    }
    return gradient;
  }

  private static void assertGradient(
      DjlTrainer trainer, Map<String, double[]> expected, LossSettings s) {
    Map<String, double[]> actual = Fixtures.numbers(trainer.optimizer().first().views());
    assertThat(actual.keySet()).isEqualTo(expected.keySet());
    expected.forEach(
        (name, values) -> {
          double largest = 1;
          for (double value : values) {
            largest = Math.max(largest, Math.abs(value));
          }
          Fixtures.assertClose(
              Fixtures.of(actual, name), values, 1e-5 * largest, () -> name + " under " + s);
        });
  }
}
