package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.TrainingEngine;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * PyTorch's AdamW in scalar double arithmetic, fed with the gradients the engine's first moment
 * tells of: g = (m' - beta1 m) / (1 - beta1).
 */
final class AdamWTest {

  @ParameterizedTest
  @ValueSource(doubles = {0, .05, 100})
  void step_severalSteps_areTorchsFormula(double clip) {
    OptimizerSettings o = new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, clip);
    try (DjlTrainer trainer = (DjlTrainer) Fixtures.policy(TINY).newTrainer(8)) {
      Map<String, double[]> weights = Fixtures.weights(trainer);
      Map<String, double[]> first = zerosLike(weights);
      Map<String, double[]> second = zerosLike(weights);
      Random random = new Random(8);
      for (int t = 1; t <= 6; t++) {
        List<TrainingSequence> batch = Fixtures.batch(random, 4);
        double norm = stepped(trainer.trainSupervised(batch, o)).gradientNorm();
        Map<String, double[]> moved = Fixtures.numbers(trainer.optimizer().first().views());
        double square = 0;
        for (Map.Entry<String, double[]> entry : weights.entrySet()) {
          String name = entry.getKey();
          double[] m = Fixtures.of(first, name);
          double[] told = Fixtures.of(moved, name);
          double[] g = new double[m.length];
          for (int i = 0; i < g.length; i++) {
            g[i] = (told[i] - o.beta1() * m[i]) / (1 - o.beta1());
            square += g[i] * g[i];
          }
          boolean matrix = !name.contains("norm");
          step(o, t, matrix, entry.getValue(), m, Fixtures.of(second, name), g);
        }
        double clipped = clip == 0 ? norm : norm * Math.min(1, clip / (norm + 1e-6));
        assertThat(Math.sqrt(square)).isCloseTo(clipped, within(1e-5 * clipped));
        assertClose(Fixtures.weights(trainer), weights, 1e-6);
        assertClose(Fixtures.numbers(trainer.optimizer().second().views()), second, 1e-6);
      }
      assertThat(trainer.optimizer().steps()).isEqualTo(6);
    }
  }

  @Test
  void step_sparedByName_movesLikeTheRestAndDoesNotDecay() {
    // So large an epsilon leaves decay as all that moves a tensor.
    OptimizerSettings still = new OptimizerSettings(1e-2, .9, .95, 1e30, .1, 0);
    WeightDecay decay = new WeightDecay(List.of("*embed_tokens*", "model.layers.1.*"));
    DjlPolicy policy = Fixtures.policy(TINY).trained(TrainingMode.full().with(decay));
    try (TrainingEngine trainer = policy.newTrainer(8)) {
      Map<String, double[]> before = Fixtures.weights(trainer);
      stepped(trainer.trainSupervised(Fixtures.batch(new Random(8), 4), still));
      Map<String, double[]> after = Fixtures.weights(trainer);
      before.forEach(
          (name, values) -> {
            boolean decays = name.startsWith("model.layers.0.") && !name.contains("norm");
            double factor = decays ? 1 - 1e-2 * .1 : 1;
            double[] expected = Arrays.stream(values).map(x -> x * factor).toArray();
            assertThat(Fixtures.of(after, name))
                .as(name)
                .containsExactly(
                    expected,
                    within(1e-7 * Arrays.stream(values).map(Math::abs).reduce(1, Math::max)));
          });
    }
  }

  @Test
  void newTrainer_sparedNameOfNoTensor_isRefused() {
    TrainingMode mode = TrainingMode.full().with(new WeightDecay(List.of("*embedding*")));
    assertThatThrownBy(() -> Fixtures.policy(TINY).trained(mode).newTrainer(1))
        .hasMessage(
            "training.no_decay names '*embedding*', and no tensor that is trained has that name;"
                + " they are called such as model.embed_tokens.weight");
  }

  /** torch.optim.AdamW, the single-tensor path. */
  private static void step(
      OptimizerSettings o, int t, boolean decays, double[] p, double[] m, double[] v, double[] g) {
    double stepSize = o.learningRate() / (1 - Math.pow(o.beta1(), t));
    double root = Math.sqrt(1 - Math.pow(o.beta2(), t));
    for (int i = 0; i < p.length; i++) {
      p[i] *= decays ? 1 - o.learningRate() * o.weightDecay() : 1;
      m[i] += (g[i] - m[i]) * (1 - o.beta1());
      v[i] = o.beta2() * v[i] + (1 - o.beta2()) * g[i] * g[i];
      p[i] -= stepSize * m[i] / (Math.sqrt(v[i]) / root + o.epsilon());
    }
  }

  private static Map<String, double[]> zerosLike(Map<String, double[]> weights) {
    Map<String, double[]> zeros = new TreeMap<>();
    weights.forEach((name, values) -> zeros.put(name, new double[values.length]));
    return zeros;
  }

  private static void assertClose(
      Map<String, double[]> actual, Map<String, double[]> expected, double tolerance) {
    expected.forEach(
        (name, values) -> {
          double largest = Arrays.stream(values).map(Math::abs).reduce(1, Math::max);
          assertThat(Fixtures.of(actual, name))
              .as(name)
              .containsExactly(values, within(tolerance * largest));
        });
  }
}
