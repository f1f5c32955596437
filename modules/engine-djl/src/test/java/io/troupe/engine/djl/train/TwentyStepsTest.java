package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.BarrierGroup;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.parallel.ThreadRanks;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Twenty steps beside those of the first trainer, which had a tensor of its own for each weight and
 * left gradients to autograd; its weights are in {@code twenty-steps.txt}.
 */
final class TwentyStepsTest {
  @TempDir private static Path scratch;

  private static final int STEPS = 20;
  private static final OptimizerSettings ADAM = new OptimizerSettings(1e-2, .9, .95, 1e-4, .1, 1);

  /** Weights of the size that decoders have, so that sums are as in practice. */
  private static final DecoderSettings USUAL =
      new DecoderSettings(32, 2, 4, 2, 8, 48, 16, 10_000, 1e-6, true, .1);

  private static List<Double> train(TrainingEngine trainer, double learningRate) {
    List<Double> losses = new ArrayList<>();
    OptimizerSettings adam = new OptimizerSettings(learningRate, .9, .95, 1e-4, .1, 1);
    for (int step = 0; step < STEPS; step++) {
      Random random = new Random(step);
      losses.add(
          stepped(
                  trainer.train(
                      Fixtures.groups(random, 4, 3),
                      Fixtures.batch(random, 2),
                      Fixtures.plainLoss().withSupervised(.2),
                      adam))
              .loss());
    }
    return losses;
  }

  private static Map<String, double[]> golden() throws IOException {
    Map<String, double[]> golden = new TreeMap<>();
    try (InputStream file = TwentyStepsTest.class.getResourceAsStream("twenty-steps.txt")) {
      String text =
          new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.US_ASCII);
      text.lines()
          .map(line -> line.split(" ", -1))
          .forEach(
              words ->
                  golden.put(
                      words[0],
                      Arrays.stream(words).skip(1).mapToDouble(Double::parseDouble).toArray()));
    }
    return golden;
  }

  @ParameterizedTest
  @CsvSource({"KEPT, 16384", "RECOMPUTED, 16384", "KEPT, 30", "RECOMPUTED, 30"})
  void train_float32_hasTheWeightsOfTheFirstTrainer(Activations activations, int budget)
      throws IOException {
    DjlPolicy policy =
        DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget))
            .trained(new TrainingMode(new Tuning.Full(), activations));
    try (TrainingEngine trainer = policy.newTrainer(5)) {
      train(trainer, ADAM.learningRate());
      Map<String, double[]> weights = Fixtures.weights(trainer);
      Map<String, double[]> golden = golden();
      assertThat(weights.keySet()).isEqualTo(golden.keySet());
      golden.forEach(
          (name, values) ->
              Fixtures.assertClose(Fixtures.of(weights, name), values, 1e-5, () -> name));
    }
  }

  @Test
  void train_bfloat16_lossesAreWithinAHundredthOfFloat32s() {
    ComputeSettings compute = ComputeSettings.of(1, 1, 1 << 14);
    List<List<Double>> losses = new ArrayList<>();
    for (Precision precision : Precision.values()) {
      DjlPolicy policy =
          DjlPolicy.create(USUAL, TOKENIZER, compute.on(Device.host(), precision))
              .trained(new TrainingMode(new Tuning.Full(), Activations.RECOMPUTED));
      try (TrainingEngine trainer = policy.newTrainer(5)) {
        losses.add(train(trainer, 1e-3));
      }
    }
    for (int step = 0; step < STEPS; step++) {
      double fine = losses.get(0).get(step);
      assertThat(losses.get(1).get(step)).as("step %d", step).isNotEqualTo(fine);
      assertThat(losses.get(1).get(step)).as("step %d", step).isCloseTo(fine, within(1e-2));
    }
  }

  /**
   * A budget of 30 tokens gives the ranks unequal numbers of micro-batches. Ranks add in another
   * order, and AdamW passes the rounding on in proportion to the learning rate.
   */
  @ParameterizedTest
  @CsvSource({"2, 16384", "3, 30", "4, 30"})
  void train_overRanks_hasTheWeightsOfOneRank(int ranks, int budget) {
    DjlPolicy plain = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    Map<String, double[]> one = weightsOver(1, plain);
    Map<String, double[]> several = weightsOver(ranks, plain);
    one.forEach(
        (name, values) ->
            Fixtures.assertClose(Fixtures.of(several, name), values, 1e-6, () -> name));
  }

  private static Map<String, double[]> weightsOver(int ranks, DjlPolicy plain) {
    DjlPolicy over =
        plain.by(
            () ->
                new ThreadRanks(
                    ranks, BarrierGroup::open, scratch, () -> plain.newRank(ranks), _ -> {}));
    try (TrainingEngine trainer = over.newTrainer(5)) {
      train(trainer, 1e-3);
      return Fixtures.weights(trainer);
    }
  }
}
