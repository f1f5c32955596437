package io.troupe.engine.djl.torch;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Computing in bfloat16 beside float32: the same up to 8 bits of mantissa. */
final class PrecisionTest {
  private static final double EIGHT_BITS = .15;

  private static DjlPolicy policy(Precision precision) {
    return DjlPolicy.create(
        TINY, TOKENIZER, ComputeSettings.of(1, 1, 1 << 14).on(Device.host(), precision));
  }

  private static StepOutcome.Stepped step(DjlPolicy policy, List<TrainingSequence> batch) {
    try (TrainingEngine trainer = policy.newTrainer(3)) {
      return Fixtures.stepped(trainer.trainSupervised(batch, Fixtures.ADAM));
    }
  }

  @Test
  void train_bfloat16_gradientIsNearFloat32s() {
    List<TrainingSequence> batch = Fixtures.batch(new Random(5), 12);
    StepOutcome.Stepped fine = step(policy(Precision.FLOAT32), batch);
    StepOutcome.Stepped coarse = step(policy(Precision.BFLOAT16), batch);
    assertThat(coarse.loss()).isCloseTo(fine.loss(), within(EIGHT_BITS));
    assertThat(coarse.gradientNorm() / fine.gradientNorm()).isCloseTo(1, within(EIGHT_BITS));
    assertThat(coarse.gradientNorm()).isNotEqualTo(fine.gradientNorm());
  }

  @Test
  void train_bfloat16_recomputedLayersGiveTheSameGradient() {
    List<TrainingSequence> batch = Fixtures.batch(new Random(6), 12);
    DjlPolicy kept = policy(Precision.BFLOAT16);
    DjlPolicy recomputed =
        kept.trained(new TrainingMode(new Tuning.Full(), Activations.RECOMPUTED));
    assertThat(step(recomputed, batch).gradientNorm())
        .isCloseTo(step(kept, batch).gradientNorm(), within(1e-3));
  }

  @Test
  void train_bfloat16_masterWeightsMoveByLessThanItsGrid() {
    List<TrainingSequence> batch = Fixtures.batch(new Random(5), 12);
    try (TrainingEngine trainer = policy(Precision.BFLOAT16).newTrainer(3)) {
      double[] published = Fixtures.of(Fixtures.weights(trainer), "model.norm.weight");
      double[] before = masters(trainer, "model.norm.weight");
      trainer.trainSupervised(batch, Fixtures.adam(1e-5));
      double[] after = masters(trainer, "model.norm.weight");
      // Weights of 1 lie 2^-7 apart in bfloat16, and a step of Adam's is about its learning rate.
      assertThat(after).isNotEqualTo(before);
      assertThat(after[0]).isCloseTo(before[0], within(1e-4));
      assertThat(Fixtures.of(Fixtures.weights(trainer), "model.norm.weight"))
          .as("what is published is what passes compute with")
          .isEqualTo(published);
    }
  }

  private static double[] masters(TrainingEngine trainer, String name) {
    WeightSnapshot.Tensor tensor =
        ((DjlTrainer) trainer)
            .moved().views().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
    double[] values = new double[(int) (tensor.bytes() / Float.BYTES)];
    for (int i = 0; i < values.length; i++) {
      values[i] = tensor.data().getAtIndex(ValueLayout.JAVA_FLOAT, i);
    }
    return values;
  }

  @Test
  void sample_bfloat16_logProbsAreNearThoseOfFloat32() {
    WeightSnapshot weights;
    try (TrainingEngine trainer = policy(Precision.FLOAT32).newTrainer(3)) {
      weights = trainer.snapshot(new WeightVersion(0));
    }
    ReferenceDecoder decoder =
        new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    try (SamplingEngine sampler = policy(Precision.BFLOAT16).newSampler()) {
      sampler.load(weights).toCompletableFuture().join();
      List<Completion> drawn =
          sampler
              .sample(List.of(request(1, "12+34=", 4, 5)))
              .getFirst()
              .toCompletableFuture()
              .join();
      for (Completion completion : drawn) {
        double[] fine = decoder.logProbs(TOKENIZER.encode("12+34="), completion.tokens(), 1);
        for (int t = 0; t < fine.length; t++) {
          assertThat((double) completion.logProbs()[t]).isCloseTo(fine[t], within(EIGHT_BITS));
        }
      }
    }
  }
}
