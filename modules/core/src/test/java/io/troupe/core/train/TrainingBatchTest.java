package io.troupe.core.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.advantage.Baseline;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.GoldenBatch;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.Overlong;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrainingBatchTest {
  private static Completion completion(long... versions) {
    return new Completion(
        new int[versions.length],
        new float[versions.length],
        TokenVersions.of(versions),
        FinishReason.STOP);
  }

  private static ScoredGroup group(long number, Completion first, Completion second) {
    return ScoredGroup.ofCompletions(
        new LeaseId(new GroupId(number), number),
        new int[] {(int) number},
        List.of(first, second),
        List.of(0.0, 1.0));
  }

  private static final LossSettings LOSS =
      GoldenBatch.settings(new Objective.Dapo(), .2, .28, new Correction.None(), 0);

  @Test
  void of_groups_keepsTheirOrderAndZeroesStaleTokens() {
    TrainingBatch batch =
        TrainingBatch.of(
            List.of(
                group(4, completion(1, 3), completion(2, 2, 3)),
                group(2, completion(3), completion(1, 1))),
            LOSS,
            new StalenessBound(1),
            new WeightVersion(3));
    assertThat(batch.sequences()).extracting(one -> one.prompt()[0]).containsExactly(4, 4, 2, 2);
    float fifth = (float) (1 / 5.0);
    assertThat(batch.sequences().get(0).lossWeights()).containsExactly(0, fifth);
    assertThat(batch.sequences().get(1).lossWeights()).containsExactly(fifth, fifth, fifth);
    assertThat(batch.sequences().get(2).lossWeights()).containsExactly(fifth);
    assertThat(batch.sequences().get(3).lossWeights()).containsExactly(0, 0);
    assertThat(batch.sequences())
        .extracting(TrainingSequence::advantage)
        .containsExactly(-1.0, 1.0, -1.0, 1.0);
    assertThat(batch.sequences().get(0).staleness()).containsExactly(2, 0);
    assertThat(batch.sequences().get(1).staleness()).containsExactly(1, 1, 0);
    assertThat(batch.trainedTokens()).isEqualTo(5);
    assertThat(batch.maskedTokens()).isEqualTo(3);
    assertThat(batch.stalenessMax()).isEqualTo(1);
    assertThat(batch.stalenessMean()).isEqualTo(2 / 5.0);
  }

  @Test
  void of_selfDistillation_learnsFromCompletionsBelowAPerfectReward() {
    // The rule of on-policy self-distillation: reward < 1 - 1e-6.
    List<Double> rewards = List.of(0.0, 1.0, 1 - 1e-6, 1 - 2e-6);
    Completion each = completion(0, 0);
    ScoredGroup group =
        ScoredGroup.ofCompletions(
            new LeaseId(new GroupId(1), 1),
            new int[] {1},
            List.of(each, each, each, each),
            rewards);
    LossSettings discarding = LOSS.with(new Distillation.ForwardKl(1, 2, true), 0);
    LossSettings keeping = LOSS.with(new Distillation.ForwardKl(1, 2, false), 0);

    TrainingBatch batch =
        TrainingBatch.of(List.of(group), discarding, new StalenessBound(0), WeightVersion.BASE);
    TrainingBatch all =
        TrainingBatch.of(List.of(group), keeping, new StalenessBound(0), WeightVersion.BASE);

    assertThat(batch.sequences())
        .extracting(s -> s.lossWeights()[0])
        .containsExactly(.25f, 0f, 0f, .25f);
    assertThat(batch.trainedTokens()).isEqualTo(4);
    assertThat(batch.discardedTokens()).isEqualTo(4);
    assertThat(all.trainedTokens()).isEqualTo(8);
    assertThat(all.discardedTokens()).isZero();
  }

  /** Completions of 1, 3, 2 and 2 tokens; nothing is stale, and the teacher passes over the 3. */
  @Test
  void of_completionThatNoTeacherCanSpeakOf_isInNoMeanOfTheDistillation() {
    List<ScoredGroup> groups =
        List.of(
            group(1, completion(0), completion(0, 0, 0)),
            group(2, completion(0, 0), completion(0, 0)));
    List<Boolean> taught = List.of(true, false, true, true);
    Distillation jsd = new Distillation.Jsd(1, .5, 2);

    TrainingBatch alone = of(groups, taught, LOSS.with(jsd, 0));
    TrainingBatch beside = of(groups, taught, LOSS.with(jsd, 1));
    TrainingBatch sequences =
        of(
            groups,
            taught,
            GoldenBatch.settings(new Objective.Grpo(), .2, .28, new Correction.None(), 0)
                .with(jsd, 1));

    assertThat(alone.sequences())
        .extracting(s -> s.lossWeights()[0])
        .containsExactly(.2f, 0f, .2f, .2f);
    assertThat(alone.trainedTokens()).isEqualTo(5);
    assertThat(alone.discardedTokens()).isEqualTo(3);
    assertThat(alone.sequences())
        .extracting(TrainingSequence::teacherWeight)
        .containsExactly(1.0, 0.0, 1.0, 1.0);
    assertThat(beside.sequences())
        .allSatisfy(s -> assertThat(s.lossWeights()[0]).isEqualTo(1 / 8f));
    assertThat(beside.trainedTokens()).isEqualTo(8);
    assertThat(beside.sequences())
        .extracting(TrainingSequence::teacherWeight)
        .containsExactly(8 / 5., 0.0, 8 / 5., 8 / 5.);
    assertThat(sequences.sequences())
        .extracting(TrainingSequence::teacherWeight)
        .containsExactly(4 / 3., 0.0, 4 / 3., 4 / 3.);
  }

  private static TrainingBatch of(
      List<ScoredGroup> groups, List<Boolean> taught, LossSettings loss) {
    List<double[]> rewards = groups.stream().map(_ -> new double[] {0, 1}).toList();
    return TrainingBatch.of(
        groups, StepRewards.of(rewards), taught, loss, new StalenessBound(0), WeightVersion.BASE);
  }

  @Test
  void of_truncatedCompletions_areLeftOutWhereTheLossMasksThemButCountInTheBaseline() {
    Completion cut =
        new Completion(
            new int[2], new float[2], TokenVersions.of(new long[2]), FinishReason.LENGTH);
    ScoredGroup group =
        ScoredGroup.ofCompletions(
            new LeaseId(new GroupId(1), 1),
            new int[] {1},
            List.of(cut, completion(0, 0), completion(0)),
            List.of(0.0, 1.0, 1.0));
    TrainingBatch masked =
        TrainingBatch.of(
            List.of(group),
            LOSS.with(Baseline.CENTRED).with(new Overlong(true, OverlongPunishment.NONE)),
            new StalenessBound(0),
            WeightVersion.BASE);
    TrainingBatch all =
        TrainingBatch.of(List.of(group), LOSS, new StalenessBound(0), WeightVersion.BASE);

    assertThat(masked.sequences())
        .extracting(s -> s.lossWeights()[0])
        .containsExactly(0f, 1 / 3f, 1 / 3f);
    assertThat(masked.sequences().get(1).advantage()).isCloseTo(1 / 3., within(1e-12));
    assertThat(masked.trainedTokens()).isEqualTo(3);
    assertThat(masked.discardedTokens()).isEqualTo(2);
    assertThat(all.trainedTokens()).isEqualTo(5);
  }

  @Test
  void of_nothingTrainable_hasNoStaleness() {
    TrainingBatch batch =
        TrainingBatch.of(
            List.of(group(1, completion(0), completion(0))),
            LOSS,
            new StalenessBound(0),
            new WeightVersion(9));
    assertThat(batch.trainedTokens()).isZero();
    assertThat(batch.maskedTokens()).isEqualTo(2);
    assertThat(batch.stalenessMean()).isZero();
  }

  private static Episode episode(int... requestLengths) {
    OpenEpisode open = OpenEpisode.under(new LeaseId(new GroupId(1), 1));
    for (int length : requestLengths) {
      int[] request = new int[length];
      request[0] = length < 10 ? 0 : length; // Every request of ten tokens begins a sequence.
      open =
          ((OpenEpisode.Recorded)
                  open.record(
                      open.lease(),
                      new OpenEpisode.Answered("main", request, completion(3, 3), 0, 0)))
              .episode();
    }
    return open.stopped(StopReason.COMPLETED);
  }

  private static TrainingBatch batch(Objective objective, Episode... episodes) {
    List<Double> rewards = new ArrayList<>(List.of(1.0));
    while (rewards.size() < episodes.length) {
      rewards.add(0.0);
    }
    return TrainingBatch.of(
        List.of(
            new ScoredGroup(
                new LeaseId(new GroupId(1), 1), new int[] {0}, List.of(episodes), rewards)),
        GoldenBatch.settings(objective, .2, .28, new Correction.None(), 0),
        new StalenessBound(0),
        new WeightVersion(3));
  }

  private static double weight(TrainingBatch batch, int from, int to) {
    double sum = 0;
    for (TrainingSequence sequence : batch.sequences().subList(from, to)) {
      for (float weight : sequence.lossWeights()) {
        sum += weight;
      }
    }
    return sum;
  }

  @Test
  void of_episodesOfSeveralSequences_weighsEpisodesNotSequences() {
    Episode whole = episode(1, 4, 7);
    Episode split = episode(1, 10, 11);
    assertThat(whole.sequences()).hasSize(1);
    assertThat(split.sequences()).hasSize(3);
    for (Objective objective :
        List.of(new Objective.Grpo(), new Objective.DrGrpo(50), new Objective.Dapo())) {
      TrainingBatch batch = batch(objective, whole, split);
      assertThat(weight(batch, 0, 1)).isCloseTo(weight(batch, 1, 4), within(1e-6));
      assertThat(batch.sequences())
          .extracting(each -> Math.signum(each.advantage()))
          .containsExactly(1.0, -1.0, -1.0, -1.0);
      assertThat(batch.trainedTokens()).isEqualTo(12);
    }
  }

  @Test
  void of_observedTokens_haveNoWeightAndAreNotCounted() {
    TrainingBatch batch = batch(new Objective.Dapo(), episode(1, 4), episode(1));
    TrainingSequence first = batch.sequences().getFirst();
    assertThat(first.completion()).hasSize(5);
    assertThat(first.lossWeights()[2]).isZero();
    assertThat(first.isSampled(2)).isFalse();
    assertThat(LossTokens.of(batch.sequences())).isEqualTo(new LossTokens(6, 0, 0));
  }
}
