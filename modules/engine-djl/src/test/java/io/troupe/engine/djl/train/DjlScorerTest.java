package io.troupe.engine.djl.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Scorer;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.train.TrainingEngine;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DjlScorerTest {
  @Test
  void score_sequence_isWhatTheTrainersReferenceSays() {
    DjlPolicy policy = Fixtures.policy(Fixtures.TINY);
    int[] tokens = Fixtures.tokens(new Random(7), 9);
    try (TrainingEngine trainer = policy.newTrainer(3);
        ScoringEngine scorer = policy.newScorer()) {
      assertThatThrownBy(() -> scorer.score(tokens, 0)).hasMessage("no weights were loaded yet");
      scorer.load(trainer.snapshot(WeightVersion.BASE));
      trainer.freezeReference();
      float[] ones = new float[8];
      Arrays.fill(ones, 1);
      List<TrainingSequence> batch =
          List.of(
              new TrainingSequence(
                  new int[] {tokens[0]}, Arrays.copyOfRange(tokens, 1, 9), new float[8], ones, 0));
      Scorer.Scores scores = scorer.score(tokens, 3);
      assertThat(scores.logProbs()).isEqualTo(trainer.referenceLogProbs(batch, 1).getFirst());
      TeacherTokens expected = trainer.teacherTokens(batch, 3, 1).getFirst();
      assertThat(scores.likeliest().ids()).isDeepEqualTo(expected.ids());
      assertThat(scores.likeliest().logProbs()).isDeepEqualTo(expected.logProbs());
      assertThatThrownBy(() -> scorer.score(new int[] {1, 99}, 0))
          .hasMessageContaining("is 99; ids lie in");
    }
    policy.close();
  }

  /** While the trainer leaves no room for a copy, one is asked for again and again. */
  @Test
  void open_memoryRunsOut_leavesNothingBehind() {
    long before = NativeTensor.live();
    assertThatThrownBy(
            () ->
                new DjlScorer(
                    Fixtures.TINY,
                    ComputeSettings.of(1, 1, 1 << 10),
                    Fixtures.TOKENIZER.vocabularySize(),
                    _ -> {},
                    _ -> {
                      throw new IllegalStateException("out of memory");
                    },
                    () -> {}))
        .hasMessage("out of memory");
    assertThat(NativeTensor.live()).isEqualTo(before);
  }
}
