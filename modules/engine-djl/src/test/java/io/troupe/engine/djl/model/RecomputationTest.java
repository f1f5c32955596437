package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Layers computed twice give the gradients of layers computed once; the feed-forward parts of 700
 * sequences are computed by rows.
 */
final class RecomputationTest {
  private static final OptimizerSettings LOOK = new OptimizerSettings(0, 0, .9, 1e-8, 0, 0);
  private static final LossSettings LOSS =
      Fixtures.loss(new Correction.TruncatedImportance(2), .1, KlEstimator.K3);
  private static final Tuning LORA =
      new Tuning.LowRank(2, 4, List.of(Tuning.Target.Q_PROJ, Tuning.Target.DOWN_PROJ));

  private record Step(StepOutcome.Stepped outcome, Map<String, double[]> gradient) {}

  private static Step step(TrainingMode mode, int budget, List<TrainingSequence> batch) {
    DjlPolicy policy = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    try (DjlTrainer trainer = (DjlTrainer) policy.trained(mode).newTrainer(3)) {
      trainer.freezeReference();
      trainer.trainSupervised(batch, Fixtures.ADAM);
      StepOutcome.Stepped outcome = stepped(trainer.train(batch, LOSS, LOOK));
      return new Step(outcome, Fixtures.numbers(trainer.optimizer().first().views()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "false, 4, 1, 16384",
    "false, 4, 4, 16384",
    "false, 4, 4, 30",
    "false, 700, 1, 16384",
    "true, 4, 4, 16384",
    "true, 4, 4, 30",
    "true, 700, 1, 16384"
  })
  void train_recomputed_hasTheGradientOfKept(boolean lora, int prompts, int each, int budget) {
    Tuning tuning = lora ? LORA : new Tuning.Full();
    List<TrainingSequence> batch = Fixtures.groups(new Random(11), prompts, each);
    Step kept = step(new TrainingMode(tuning, Activations.KEPT), budget, batch);
    Step again = step(new TrainingMode(tuning, Activations.RECOMPUTED), budget, batch);
    assertThat(again.outcome.loss()).isCloseTo(kept.outcome.loss(), within(1e-6));
    assertThat(again.gradient.keySet()).isEqualTo(kept.gradient.keySet());
    kept.gradient.forEach(
        (name, values) ->
            assertThat(Fixtures.of(again.gradient, name))
                .as(name)
                .containsExactly(values, within(1e-6 * kept.outcome.gradientNorm())));
  }
}
