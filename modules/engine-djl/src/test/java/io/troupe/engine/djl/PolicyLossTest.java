package io.troupe.engine.djl;

import static io.troupe.engine.djl.Fixtures.TINY;
import static io.troupe.engine.djl.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.train.Correction;
import io.troupe.core.train.KlEstimator;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.Objective;
import io.troupe.core.train.ScalarLoss;
import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Losses, statistics and gradients of the program against core's scalar reference.
 *
 * <p>The expected gradient is the scalar loss's derivative by each log-probability, times the
 * Jacobian of the log-probabilities by every weight, which central differences of the plain decoder
 * give. The program's gradient is AdamW's first moment after a step with beta1 0; with a learning
 * rate of 0 the weights stay.
 */
final class PolicyLossTest {
  private static final Optimisation LOOK = new Optimisation(0, 0, .9, 1e-8, 0, 0);
  private static final double TEMPERATURE = .8;

  /** A trainer whose reference policy is not its policy, and what the plain decoder says. */
  private record Case(
      DjlTrainer trainer,
      List<TrainingSequence> batch,
      List<double[]> logProbs,
      List<double[]> reference,
      List<Map<String, double[]>> jacobian)
      implements AutoCloseable {
    static Case of(long seed) {
      Random random = new Random(seed);
      DjlTrainer trainer = (DjlTrainer) Fixtures.policy(TINY).newTrainer(seed);
      List<TrainingSequence> drawn =
          seed % 2 == 0 ? Fixtures.batch(random, 4) : Fixtures.groups(random, 2, 3);
      trainer.freezeReference();
      List<double[]> reference = plainLogProbs(Fixtures.weights(trainer), drawn);
      for (int step = 0; step < 3; step++) {
        trainer.imitate(drawn, Fixtures.adam(.02));
      }
      Map<String, double[]> weights = Fixtures.weights(trainer);
      List<double[]> logProbs = plainLogProbs(weights, drawn);
      List<TrainingSequence> batch = new ArrayList<>();
      for (int i = 0; i < drawn.size(); i++) {
        float[] behaviour = new float[logProbs.get(i).length];
        for (int t = 0; t < behaviour.length; t++) {
          behaviour[t] = (float) (logProbs.get(i)[t] + .4 * random.nextGaussian());
        }
        batch.add(Fixtures.withBehaviour(drawn.get(i), behaviour));
      }
      return new Case(trainer, batch, logProbs, reference, plainJacobian(weights, batch));
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

  private static List<LossSettings> settings() {
    List<LossSettings> all = new ArrayList<>();
    List<Objective> objectives =
        List.of(new Objective.Grpo(), new Objective.DrGrpo(8), new Objective.Dapo());
    for (Objective objective : objectives) {
      for (Correction correction :
          List.of(
              new Correction.None(),
              new Correction.TruncatedImportance(2),
              new Correction.TruncatedImportance(.9))) {
        for (double[] clip : new double[][] {{0, 0}, {.2, .2}, {.2, .28}, {0, .1}}) {
          for (double beta : new double[] {0, .3}) {
            for (KlEstimator estimator : KlEstimator.values()) {
              all.add(
                  new LossSettings(
                      objective, clip[0], clip[1], correction, beta, estimator, TEMPERATURE));
            }
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void train_everyLoss_agreesWithTheScalarReference(long seed) {
    try (Case given = Case.of(seed)) {
      for (LossSettings s : settings()) {
        ScalarLoss.StepLoss expected =
            ScalarLoss.step(s, given.batch, given.logProbs, given.logProbs, given.reference);
        StepOutcome.Stepped actual = stepped(given.trainer.train(given.batch, s, LOOK));
        assertThat(actual.loss()).as("%s", s).isCloseTo(expected.loss(), within(1e-5));
        assertThat(actual.behaviourKl()).isCloseTo(expected.behaviourKl(), within(1e-5));
        assertThat(actual.behaviourGap()).isCloseTo(expected.behaviourGap(), within(1e-5));
        assertThat(actual.referenceKl()).isCloseTo(expected.referenceKl(), within(1e-5));
        assertThat(actual.clippedLow()).isEqualTo(expected.clippedLow());
        assertThat(actual.clippedHigh()).isEqualTo(expected.clippedHigh());
        assertThat(actual.tokens()).isEqualTo(expected.tokens());
        Map<String, double[]> gradient = gradient(given, s);
        assertGradient(given.trainer, gradient, s);
        double norm = 0;
        for (double[] values : gradient.values()) {
          for (double value : values) {
            norm += value * value;
          }
        }
        assertThat(actual.gradientNorm())
            .isCloseTo(Math.sqrt(norm), within(1e-5 * (1 + Math.sqrt(norm))));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void imitate_randomBatch_agreesWithTheScalarReference(long seed) {
    try (Case given = Case.of(seed)) {
      List<double[]> logProbs =
          given.batch.stream()
              .map(
                  s ->
                      new ReferenceDecoder(
                              TINY, TOKENIZER.vocabularySize(), Fixtures.weights(given.trainer))
                          .logProbs(s, 1))
              .toList();
      StepOutcome.Stepped actual = stepped(given.trainer.imitate(given.batch, LOOK));
      assertThat(actual.loss())
          .isCloseTo(ScalarLoss.imitation(given.batch, logProbs), within(1e-5));
      assertThat(actual.behaviourKl() + actual.behaviourGap() + actual.referenceKl()).isZero();
    }
  }

  private static Map<String, double[]> gradient(Case given, LossSettings s) {
    Map<String, double[]> gradient = new TreeMap<>();
    for (int i = 0; i < given.batch.size(); i++) {
      TrainingSequence sequence = given.batch.get(i);
      int tokens = sequence.completion().length;
      double[] factor = new double[tokens];
      for (int t = 0; t < tokens; t++) {
        double logProb = given.logProbs.get(i)[t];
        if (sequence.lossWeights()[t] > 0) {
          factor[t] =
              sequence.lossWeights()[t]
                  * ScalarLoss.token(
                          s,
                          logProb,
                          logProb,
                          sequence.behaviourLogProbs()[t],
                          given.reference.get(i)[t],
                          sequence.advantage())
                      .derivative();
        }
      }
      given
          .jacobian
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
          assertThat(Fixtures.of(actual, name))
              .as("%s under %s", name, s)
              .containsExactly(values, within(1e-5 * largest));
        });
  }
}
