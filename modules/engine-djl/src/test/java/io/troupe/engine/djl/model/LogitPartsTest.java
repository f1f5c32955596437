package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Logits computed for some positions at a time give the losses and gradients of all at once. */
final class LogitPartsTest {
  private static final OptimizerSettings LOOK = new OptimizerSettings(0, 0, .9, 1e-8, 0, 0);
  private static final Tuning LORA =
      new Tuning.LowRank(2, 4, List.of(Tuning.Target.Q_PROJ, Tuning.Target.DOWN_PROJ));

  private record Step(
      StepOutcome.Stepped outcome,
      Map<String, double[]> gradient,
      List<double[]> reference,
      Set<String> calls) {}

  /**
   * A step with everything that reads logits.
   *
   * @param rows of logits that fit
   */
  private static Step step(TrainingMode mode, Precision precision, boolean tied, int rows) {
    Set<String> calls = new TreeSet<>();
    long bytes = (long) rows * TOKENIZER.vocabularySize() * Float.BYTES;
    ComputeSettings compute =
        ComputeSettings.of(1, 1, 1 << 14).withLogits(bytes).on(Device.host(), precision);
    DjlPolicy policy =
        DjlPolicy.create(Fixtures.tiny(tied), TOKENIZER, compute)
            .trained(mode)
            .withProgressWatch(calls::add);
    LossSettings loss =
        Fixtures.loss(new Correction.TruncatedImportance(2), .1, KlEstimator.K3)
            .with(new Distillation.Jsd(.5, .9, 4), .7)
            .withEntropy(.2);
    List<TrainingSequence> batch = Fixtures.groups(new Random(11), 4, 3);
    try (DjlTrainer trainer = (DjlTrainer) policy.newTrainer(3)) {
      trainer.freezeReference();
      trainer.trainSupervised(batch, Fixtures.ADAM);
      List<TeacherTokens> teacher = trainer.teacherTokens(batch, 4, 1.3);
      List<TrainingSequence> taught = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        taught.add(batch.get(i).withTeacher(teacher.get(i)));
      }
      List<double[]> reference = trainer.referenceLogProbs(batch, 1.3);
      StepOutcome.Stepped outcome = stepped(trainer.train(taught, loss, LOOK));
      return new Step(
          outcome, Fixtures.numbers(trainer.optimizer().first().views()), reference, calls);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "KEPT, false, true, 7",
    "KEPT, false, false, 1",
    "RECOMPUTED, false, true, 7",
    "RECOMPUTED, false, false, 1",
    "RECOMPUTED, true, true, 7"
  })
  void train_inParts_hasLossAndGradientOfTheWhole(
      Activations activations, boolean lora, boolean tied, int rows) {
    TrainingMode mode = new TrainingMode(lora ? LORA : new Tuning.Full(), activations);
    Step whole = step(mode, Precision.FLOAT32, tied, 1 << 10);
    Step parts = step(mode, Precision.FLOAT32, tied, rows);

    assertThat(whole.calls).contains("log_probs", "top_k_log_probs").doesNotContain("states");
    assertThat(parts.calls)
        .contains("states", "part_log_probs", "part_backward", "part_top_k")
        .doesNotContain("log_probs", "top_k_log_probs");
    assertThat(parts.outcome.loss()).isCloseTo(whole.outcome.loss(), within(1e-5));
    assertThat(parts.outcome.entropy()).isCloseTo(whole.outcome.entropy(), within(1e-5));
    for (int i = 0; i < whole.reference.size(); i++) {
      assertThat(parts.reference.get(i)).containsExactly(whole.reference.get(i), within(1e-5));
    }
    whole.gradient.forEach(
        (name, values) ->
            assertThat(Fixtures.of(parts.gradient, name))
                .as(name)
                .containsExactly(values, within(1e-5 * whole.outcome.gradientNorm())));
  }

  /** A sum of parts in bfloat16 would lose the later ones. */
  @ParameterizedTest
  @EnumSource(Activations.class)
  void train_inManyPartsInBfloat16_addsTheirGradientsInFloat32(Activations activations) {
    TrainingMode mode = new TrainingMode(new Tuning.Full(), activations);
    double[] whole =
        Fixtures.of(step(mode, Precision.BFLOAT16, false, 1 << 10).gradient, "lm_head.weight");
    double[] parts =
        Fixtures.of(step(mode, Precision.BFLOAT16, false, 1).gradient, "lm_head.weight");
    double distance = 0;
    double size = 0;
    for (int i = 0; i < whole.length; i++) {
      distance += Math.abs(parts[i] - whole[i]);
      size += Math.abs(whole[i]);
    }
    assertThat(distance / size).isLessThan(4e-3);
  }

  @Test
  void logitRows_ofALargeVocabulary_areBoundedByTheBudget() {
    ComputeSettings usual = ComputeSettings.of(1, 1, 1 << 14);
    assertThat(usual.logitRows(151_936)).as("441 in whole tiles").isEqualTo(384);
    assertThat(usual.logitRows(4_096)).isEqualTo(16_384);
    assertThat(usual.withLogits(1).logitRows(15)).isEqualTo(1);
  }
}
