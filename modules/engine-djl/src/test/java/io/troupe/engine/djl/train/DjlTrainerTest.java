package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.ADAM;
import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.adam;
import static io.troupe.engine.djl.model.Fixtures.plainLoss;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DjlTrainerTest {

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void train_behaviourOfThePlainDecoder_gapIsRounding(boolean tied) {
    DecoderSettings settings = Fixtures.tiny(tied);
    try (TrainingEngine trainer = Fixtures.policy(settings).newTrainer(7)) {
      ReferenceDecoder decoder =
          new ReferenceDecoder(settings, TOKENIZER.vocabularySize(), Fixtures.weights(trainer));
      List<TrainingSequence> batch = new ArrayList<>();
      for (TrainingSequence s : Fixtures.batch(new Random(3), 12)) {
        double[] logProbs = decoder.logProbs(s, 1);
        float[] behaviour = new float[logProbs.length];
        for (int t = 0; t < behaviour.length; t++) {
          behaviour[t] = (float) logProbs[t];
        }
        batch.add(Fixtures.withBehaviour(s, behaviour));
      }
      StepOutcome.Stepped outcome = stepped(trainer.train(batch, plainLoss(), ADAM));
      assertThat(outcome.metrics().gapMax()).isLessThan(1e-4);
      assertThat(outcome.metrics().behaviourKl()).isCloseTo(0, within(1e-9));
      assertThat(outcome.metrics().clippedLow() + outcome.metrics().clippedHigh()).isZero();
    }
  }

  @Test
  void imitate_sameBatchAgain_lossFallsToNearZero() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(1)) {
      int[] prompt = TOKENIZER.encode("12+34=");
      float[] third = {1f / 3, 1f / 3, 1f / 3};
      int[] answer = {TOKENIZER.encode("4")[0], TOKENIZER.encode("6")[0], 1};
      List<TrainingSequence> batch =
          List.of(new TrainingSequence(prompt, answer, new float[3], third, 0));
      double first = stepped(trainer.trainSupervised(batch, ADAM)).loss();
      double last = first;
      for (int step = 0; step < 100; step++) {
        last = stepped(trainer.trainSupervised(batch, adam(.03))).loss();
      }
      assertThat(first).isGreaterThan(1);
      assertThat(last).isLessThan(.01);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void logProbs_presentWeights_areThoseOfTheNextStepsLoss(boolean adapted) {
    DjlPolicy policy = Fixtures.policy(TINY);
    Tuning tuning =
        adapted ? new Tuning.LowRank(4, 8, List.of(Tuning.Target.values())) : new Tuning.Full();
    DjlPolicy tuned = policy.trained(new TrainingMode(tuning, TrainingMode.Activations.KEPT));
    try (TrainingEngine trainer = tuned.newTrainer(3)) {
      List<TrainingSequence> batch = Fixtures.batch(new Random(4), 6);
      for (int step = 0; step < 3; step++) {
        double sum = 0;
        List<double[]> logProbs = trainer.logProbs(batch, 1);
        for (int i = 0; i < batch.size(); i++) {
          for (int t = 0; t < logProbs.get(i).length; t++) {
            float weight = batch.get(i).lossWeights()[t];
            sum -= weight == 0 ? 0 : weight * logProbs.get(i)[t];
          }
        }
        assertThat(stepped(trainer.trainSupervised(batch, adam(.01))).loss())
            .isCloseTo(sum, within(1e-5));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 30, 64})
  void train_anotherMicroBatchSplit_movesTheWeightsAlike(int budget) {
    List<TrainingSequence> batch = Fixtures.groups(new Random(5), 4, 4);
    Map<String, double[]> whole = weightsAfter(batch, 1 << 14);
    weightsAfter(batch, budget)
        .forEach(
            (name, values) ->
                assertThat(values).as(name).containsExactly(whole.get(name), within(1e-5)));
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 30, 64})
  void train_anotherMicroBatchSplit_marksTheSameTokens(int budget) {
    List<TrainingSequence> batch = Fixtures.groups(new Random(5), 4, 4);
    List<TokenMarks> whole = marksOf(batch, 1 << 14);
    assertThat(whole).hasSize(16);
    assertThat(Set.copyOf(whole)).hasSizeGreaterThan(4);
    assertThat(marksOf(batch, budget)).isEqualTo(whole);
  }

  private static List<TokenMarks> marksOf(List<TrainingSequence> batch, int budget) {
    LossSettings clipped =
        new LossSettings(
            new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);
    DjlPolicy policy = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    try (TrainingEngine trainer = policy.newTrainer(2)) {
      return stepped(trainer.train(batch, clipped, adam(1e-3))).marks();
    }
  }

  private static Map<String, double[]> weightsAfter(List<TrainingSequence> batch, int budget) {
    DjlPolicy policy = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    try (TrainingEngine trainer = policy.newTrainer(2)) {
      for (int step = 0; step < 3; step++) {
        trainer.train(batch, plainLoss(), adam(1e-3));
      }
      return Fixtures.weights(trainer);
    }
  }

  @Test
  void newTrainer_sameSeed_makesTheSameWeights() {
    DjlPolicy policy = Fixtures.policy(TINY);
    assertThat(digest(policy, 1)).isEqualTo(digest(policy, 1)).isNotEqualTo(digest(policy, 2));
  }

  private static String digest(DjlPolicy policy, long seed) {
    try (TrainingEngine trainer = policy.newTrainer(seed)) {
      return trainer.snapshot(WeightVersion.BASE).digest();
    }
  }

  @Test
  void train_lossNotFinite_skipsAndLeavesTheNextStepAsItWasWithout() {
    List<TrainingSequence> good = Fixtures.batch(new Random(6), 4);
    List<TrainingSequence> bad = new ArrayList<>(good);
    TrainingSequence s = good.getFirst();
    float[] farBelow = new float[s.completion().length];
    Arrays.fill(farBelow, -1e30f);
    float[] ones = new float[farBelow.length];
    Arrays.fill(ones, 1);
    bad.add(new TrainingSequence(s.prompt(), s.completion(), farBelow, ones, -1));
    DjlPolicy policy = Fixtures.policy(TINY);
    try (TrainingEngine disturbed = policy.newTrainer(4);
        TrainingEngine quiet = policy.newTrainer(4)) {
      assertThat(disturbed.train(bad, plainLoss(), ADAM)).isInstanceOf(StepOutcome.Skipped.class);
      disturbed.train(good, plainLoss(), ADAM);
      quiet.train(good, plainLoss(), ADAM);
      disturbed.train(bad, plainLoss(), ADAM);
      assertThat(Fixtures.untimed(disturbed.train(good, plainLoss(), ADAM)))
          .isEqualTo(Fixtures.untimed(quiet.train(good, plainLoss(), ADAM)));
      assertThat(disturbed.snapshot(WeightVersion.BASE).digest())
          .isEqualTo(quiet.snapshot(WeightVersion.BASE).digest());
    }
  }

  @Test
  void train_noTokenWithWeight_skips() {
    TrainingSequence s = Fixtures.batch(new Random(6), 1).getFirst();
    TrainingSequence weightless =
        new TrainingSequence(
            s.prompt(), s.completion(), s.behaviourLogProbs(), new float[s.completion().length], 1);
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(4)) {
      assertThat(trainer.train(List.of(weightless), plainLoss(), ADAM))
          .isEqualTo(new StepOutcome.Skipped("no token of the batch has a loss weight"));
    }
  }

  @Test
  void train_behaviourMissing_isRefused() {
    TrainingSequence s =
        new TrainingSequence(
            new int[] {2}, new int[] {3}, new float[] {Float.NaN}, new float[] {1}, 1);
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(4)) {
      assertThatThrownBy(() -> trainer.train(List.of(s), plainLoss(), ADAM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("token 0 of sequence 0 has behaviour log-probability NaN, which is none");
    }
  }

  @Test
  void train_tokenOutsideTheVocabulary_isRefusedByName() {
    TrainingSequence s =
        new TrainingSequence(new int[] {2}, new int[] {99}, new float[1], new float[] {1}, 1);
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(4)) {
      assertThatThrownBy(() -> trainer.train(List.of(s), plainLoss(), ADAM))
          .hasMessage("token 0 of the completion of sequence 0 is 99; ids lie in [0, 13]");
    }
  }

  @Test
  void train_penaltyWithoutReference_isRefused() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(4)) {
      assertThatThrownBy(
              () ->
                  trainer.train(
                      Fixtures.batch(new Random(1), 1),
                      Fixtures.loss(new Correction.None(), .1, KlEstimator.K3),
                      ADAM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("freezeReference");
    }
  }

  @Test
  void train_manySteps_leaveNoTensorBehind() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(4)) {
      List<TrainingSequence> batch = Fixtures.batch(new Random(1), 4);
      trainer.freezeReference();
      trainer.train(batch, Fixtures.loss(new Correction.None(), .1, KlEstimator.K3), ADAM);
      long before = NativeTensor.live();
      for (int step = 0; step < 20; step++) {
        trainer.train(batch, Fixtures.loss(new Correction.None(), .1, KlEstimator.K3), ADAM);
        trainer.trainSupervised(batch, ADAM);
        trainer.snapshot(WeightVersion.BASE);
      }
      assertThat(NativeTensor.live()).isEqualTo(before);
    }
  }
}
