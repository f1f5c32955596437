package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.train.CompletionStatistics;
import io.troupe.core.train.LossMetrics;
import io.troupe.core.weights.WeightVersion;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepMeterTest {
  private static final WorkerId WORKER = new WorkerId("w");
  private static final LeaseId LEASE = new LeaseId(new GroupId(1), 1);
  private static final RunState LEASED =
      RunState.INITIAL
          .evolve(new Event.RunStarted())
          .evolve(new Event.DemandRaised(WORKER, 1))
          .evolve(new Event.GroupAdmitted(LEASE.group(), 0, 0, new PromptCursor(0, 1)))
          .evolve(new Event.LeaseGranted(LEASE, WORKER, WeightVersion.BASE, 9));
  private static final RunState SAMPLED = LEASED.evolve(new Event.LeaseSampled(LEASE, 1_000));
  private static final RunState TRAINING =
      SAMPLED
          .evolve(new Event.GroupBuffered(summary(2, 0, 1)))
          .evolve(new Event.StepStarted(1, List.of(LEASE.group())));

  private static final StepMeter.Verification VERIFIED =
      new StepMeter.Verification(1.5, 40, 3, 2, 7);

  private static final StepMeter.Reading READING =
      new StepMeter.Reading(
          new LossMetrics(
              0.1, 0.11, 0.12, 0.3, 0.41, 0.42, 0.4, 0.5, 0.55, 0.7, 0.8, 1.1, 1.2, 1.3, 1.4, 0.9,
              0.02, 0.03, 100, 7),
          0.6,
          0.2,
          0.25,
          0.1,
          0.05,
          0.07,
          0.9,
          100,
          10,
          3,
          1.5,
          0.25,
          new CompletionStatistics(0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67));

  /** Completions of this many tokens each. */
  private static GroupSummary summary(int tokens, double... rewards) {
    return new GroupSummary(
        LEASE,
        Arrays.stream(rewards).boxed().toList(),
        Arrays.stream(rewards)
            .mapToObj(_ -> TokenVersions.uniform(WeightVersion.BASE, tokens))
            .toList());
  }

  private static StepRow.Training training(StepRow row) {
    return row.training().orElseThrow();
  }

  @Test
  void row_eventsOfAStep_areAddedUp() {
    StepMeter meter = new StepMeter(1_000);
    meter.event(new Event.GroupBuffered(summary(3, 0, 1)));
    meter.event(new Event.GroupFiltered(summary(5, 1, 1)));
    meter.event(new Event.LeaseEnded(LEASE, LeaseEndReason.EXPIRED, ""));
    meter.event(new Event.LeaseEnded(LEASE, LeaseEndReason.FAILED, ""));
    meter.event(new Event.GroupStale(LEASE));
    meter.event(new Event.AnswerRefused(LEASE, ""));
    meter.event(new Event.CheckpointSaved(1));
    StepRow row = meter.row(4, READING, VERIFIED, 4, 3_000);
    assertThat(row.step()).isEqualTo(4);
    assertThat(row.seconds()).isEqualTo(3.0);
    assertThat(row.eval()).isEmpty();
    StepRow.Training training = training(row);
    assertThat(training.reward()).isEqualTo(3 / 4.0);
    assertThat(training.degenerateShare()).isEqualTo(1 / 2.0);
    assertThat(training.allRightShare()).isEqualTo(1 / 2.0);
    assertThat(training.allWrongShare()).isZero();
    assertThat(training.lostShare()).isEqualTo(3 / 4.0);
    assertThat(training.length()).isEqualTo(16 / 4.0);
    assertThat(training.tokensPerSecond()).isEqualTo(16 / 2.0);
    assertThat(training.groups()).isEqualTo(2);
    assertThat(training.filtered()).isEqualTo(1);
    assertThat(training.requeued()).isEqualTo(1);
    assertThat(training.refused()).isEqualTo(1);
  }

  @Test
  void row_episodesWithTools_hasTheirMeansAndSharesOfStopReasons() {
    StepMeter meter = new StepMeter(0);
    TokenVersions tokens = TokenVersions.uniform(WeightVersion.BASE, 9);
    meter.event(
        new Event.GroupBuffered(
            new GroupSummary(
                LEASE,
                List.of(0.0, 1.0),
                List.of(tokens, tokens),
                List.of(
                    new EpisodeSummary(4, 1, StopReason.MAX_TURNS, 3, 600, 1_000, 2_000),
                    new EpisodeSummary(2, 1, StopReason.COMPLETED, 1, 200, 500, 1_000)))));
    assertThat(meter.row(1, READING, VERIFIED, 1, 1_000).episodes())
        .contains(new StepRow.Episodes(3, 2, 1.5, 0.75, 0.4, 0.5, 0, 0.5, 0, 0, 0, 0, 0));
    meter.event(new Event.GroupBuffered(summary(3, 0, 1)));
    assertThat(meter.row(2, READING, VERIFIED, 2, 2_000).episodes()).isEmpty();
  }

  @Test
  void row_reading_isPassedOn() {
    StepRow.Training training = training(new StepMeter(0).row(1, READING, VERIFIED, 1, 1_000));
    assertThat(training.loss()).isEqualTo(0.1);
    assertThat(training.gradientNorm()).isEqualTo(0.2);
    assertThat(training.kl()).isEqualTo(0.3);
    assertThat(training.behaviourGap()).isEqualTo(0.4);
    assertThat(training.referenceKl()).isEqualTo(0.5);
    assertThat(training.entropy()).isEqualTo(0.6);
    assertThat(training.clippedLow()).isEqualTo(0.7);
    assertThat(training.clippedHigh()).isEqualTo(0.8);
    assertThat(training.learningRate()).isEqualTo(0.9);
    assertThat(training.trainedTokens()).isEqualTo(100);
    assertThat(training.maskedTokens()).isEqualTo(10);
    assertThat(training.stalenessMax()).isEqualTo(3);
    assertThat(training.stalenessMean()).isEqualTo(1.5);
    assertThat(training.trainSeconds()).isEqualTo(0.25);
    assertThat(training.referenceKlMax()).isEqualTo(0.55);
    assertThat(training.rewardUsed()).isEqualTo(0.61);
    assertThat(training.stopShare()).isEqualTo(0.62);
    assertThat(training.stopStringShare()).isEqualTo(0.63);
    assertThat(training.lengthShare()).isEqualTo(0.64);
    assertThat(training.rewardLengthCorrelation()).isEqualTo(0.65);
    assertThat(training.lengthRight()).isEqualTo(0.66);
    assertThat(training.lengthWrong()).isEqualTo(0.67);
  }

  @Test
  void row_verification_timesAreOfTheProcessAndCountsOfTheStep() {
    StepMeter meter = new StepMeter(0);
    meter.row(1, READING, VERIFIED, 1, 1_000);
    StepMeter.Verification later = new StepMeter.Verification(2.5, 50, 4, 6, 1);

    StepRow.Training training = training(meter.row(2, READING, later, 2, 2_000));

    assertThat(training.verifierMillisP50()).isEqualTo(2.5);
    assertThat(training.verifierMillisP99()).isEqualTo(50.0);
    assertThat(training.verifierTimeouts()).isEqualTo(1);
    assertThat(training.verifierCrashes()).isEqualTo(4);
    assertThat(training.verifierWaiting()).isEqualTo(1);
  }

  @Test
  void row_cpuTime_isThatSinceTheLastStep() {
    StepMeter meter = new StepMeter(0);

    assertThat(training(meter.row(1, READING, VERIFIED, 7.5, 1_000)).cpuSeconds()).isNaN();
    assertThat(training(meter.row(2, READING, VERIFIED, 9.25, 2_000)).cpuSeconds()).isEqualTo(1.75);
  }

  /** Equal rewards below the mark are wrong, as different ones below it are. */
  @Test
  void row_degenerateGroups_areToldApart() {
    StepMeter meter = new StepMeter(0);
    meter.event(new Event.GroupFiltered(summary(1, 0, 0)));
    meter.event(new Event.GroupFiltered(summary(1, 0, 0)));
    meter.event(new Event.GroupFiltered(summary(1, 1, 1 - 1e-9)));
    meter.event(new Event.GroupFiltered(summary(1, .5, .5)));
    meter.event(new Event.GroupBuffered(summary(1, 0, 1)));
    StepRow.Training training = training(meter.row(1, READING, VERIFIED, 1, 1_000));
    assertThat(training.allWrongShare()).isEqualTo(3 / 5.0);
    assertThat(training.allRightShare()).isEqualTo(1 / 5.0);
    assertThat(training.degenerateShare()).isEqualTo(4 / 5.0);
  }

  @Test
  void row_nothingScored_hasNoAverages() {
    StepRow.Training training = training(new StepMeter(0).row(1, READING, VERIFIED, 1, 1_000));
    assertThat(training.reward()).isNaN();
    assertThat(training.degenerateShare()).isNaN();
    assertThat(training.lostShare()).isNaN();
    assertThat(training.length()).isNaN();
    assertThat(training.tokensPerSecond()).isZero();
  }

  @Test
  void row_second_countsAnew() {
    StepMeter meter = new StepMeter(0);
    meter.event(new Event.GroupFiltered(summary(3, 1, 1)));
    meter.event(new Event.LeaseEnded(LEASE, LeaseEndReason.EXPIRED, ""));
    meter.event(new Event.GroupStale(LEASE));
    meter.event(new Event.AnswerRefused(LEASE, ""));
    meter.row(1, READING, VERIFIED, 1, 1_000);
    meter.event(new Event.GroupBuffered(summary(4, 0, 1)));
    StepRow.Training training = training(meter.row(2, READING, VERIFIED, 2, 3_000));
    assertThat(training.groups()).isEqualTo(1);
    assertThat(training.filtered()).isZero();
    assertThat(training.requeued()).isZero();
    assertThat(training.refused()).isZero();
    assertThat(training.lostShare()).isZero();
    assertThat(training.degenerateShare()).isZero();
    assertThat(training.allRightShare()).isZero();
    assertThat(training.reward()).isEqualTo(0.5);
    assertThat(training.tokensPerSecond()).isEqualTo(8 / 2.0);
    assertThat(training.waitSeconds()).isEqualTo(2.0);
  }

  @Test
  void waiting_trainerIdle_isChargedToWhatItWaitsFor() {
    StepMeter meter = new StepMeter(0);
    meter.observe(LEASED, 100);
    meter.observe(LEASED, 300);
    meter.observe(SAMPLED, 900);
    meter.observe(TRAINING, 1_200);
    StepRow.Training training = training(meter.row(1, READING, VERIFIED, 1, 1_700));
    assertThat(training.waitSeconds()).isEqualTo(1.2);
    assertThat(training.waitedFor()).isEqualTo("rollout");
  }

  @Test
  void waiting_eachCause_canBeTheLongest() {
    assertThat(longest(RunState.INITIAL)).isEqualTo("workers");
    assertThat(longest(LEASED)).isEqualTo("rollout");
    assertThat(longest(SAMPLED)).isEqualTo("verifier");
    assertThat(longest(TRAINING)).isEqualTo("trainer");
  }

  private static String longest(RunState state) {
    StepMeter meter = new StepMeter(0);
    meter.observe(state, 1);
    return training(meter.row(1, READING, VERIFIED, 1, 1_000)).waitedFor();
  }

  @Test
  void row_groupInTrainingForTheSecondTime_isReused() {
    RunState again =
        TRAINING
            .evolve(new Event.StepTrained(1, List.of(LEASE.group())))
            .evolve(new Event.StepStarted(2, List.of(LEASE.group())));
    StepMeter meter = new StepMeter(0);

    meter.observe(TRAINING, 0);
    StepRow.Training first = training(meter.row(1, READING, VERIFIED, 1, 1_000));
    meter.observe(again, 1_000);
    StepRow.Training second = training(meter.row(2, READING, VERIFIED, 2, 2_000));

    assertThat(first.reused()).isZero();
    assertThat(second.reused()).isEqualTo(1);
  }
}
