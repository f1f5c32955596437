package io.troupe.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.fit.FitSettings;
import io.troupe.sim.fit.MeasuredRun;
import io.troupe.sim.fit.ModelFit;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LengthModel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Fits of runs whose times are known. */
class ModelFitTest {
  private static final FitSettings SETTINGS =
      new FitSettings("known", "toy", 1_000, 10, CpuShape.NONE, 0, 0.002);

  /** Alone a group of two takes 100 ms + 10 ms a token; a step 500 ms + 2 ms a token. */
  private static MeasuredRun known(int groups) {
    MeasuredRun run = new MeasuredRun();
    long at = 1_000;
    for (int i = 1; i <= groups; i++) {
      LeaseId lease = new LeaseId(new GroupId(i), i);
      int longest = 50 + 37 * i % 400;
      run.event(at, new Event.GroupAdmitted(lease.group(), i, 0, new PromptCursor(0, i)));
      run.event(
          at, new Event.LeaseGranted(lease, new WorkerId("w"), new WeightVersion(i - 1), at + 1));
      at += 100 + 10L * longest;
      run.event(at, new Event.LeaseSampled(lease, at + 1));
      at += 20;
      GroupSummary summary =
          new GroupSummary(
              lease,
              List.of(0.0, 1.0),
              List.of(
                  TokenVersions.uniform(new WeightVersion(i - 1), longest),
                  TokenVersions.uniform(new WeightVersion(i - 1), longest)));
      run.event(at, new Event.GroupBuffered(summary));
      run.event(at, new Event.StepStarted(i, List.of(lease.group())));
      run.event(at, new Event.LossTokensCounted(i, 2L * longest, 0, 0, 1));
      at += 500 + 4L * longest;
      run.event(at, new Event.StepTrained(i));
    }
    return run;
  }

  @Test
  void of_runWithKnownTimes_findsThem() {
    LatencyModel model = ModelFit.of(known(60), SETTINGS);

    double step = model.engine().decode().stepSeconds(2, 0);
    assertThat(model.engine().decode()).isInstanceOf(DecodeModel.Linear.class);
    assertThat(step).isCloseTo(0.01, within(1e-4));
    assertThat(model.engine().prefillSeconds()).isCloseTo(0.1, within(1e-3));
    assertThat(model.training().baseSeconds()).isCloseTo(0.5, within(1e-3));
    assertThat(model.training().tokenSeconds()).isCloseTo(0.002, within(1e-5));
    assertThat(model.verification().meanSeconds()).isEqualTo(0.002);
    assertThat(model.verification().groupSeconds()).isCloseTo(0.018, within(1e-9));
    assertThat(model.origin().groups()).isEqualTo(60);
    assertThat(model.origin().rows()).isEqualTo(2);
  }

  @Test
  void of_runWithoutChangeOfLengths_drawsFromAllGroups() {
    LatencyModel model = ModelFit.of(known(300), SETTINGS);

    assertThat(model.workload().lengths())
        .isInstanceOfSatisfying(
            LengthModel.Empirical.class,
            lengths -> {
              assertThat(lengths.drifts()).isFalse();
              assertThat(lengths.groups()).hasSize(300);
              assertThat(lengths.cap()).isEqualTo(1_000);
            });
  }

  @Test
  void of_tooFewGroups_isRefusedWithTheRule() {
    assertThatThrownBy(() -> ModelFit.of(known(29), SETTINGS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "known has 29 groups and 29 steps, and a fit needs 30 and 5; let the run make more");
  }

  @Test
  void measured_knownRun_hasItsRateAndStaleness() {
    MeasuredRun run = known(60);

    assertThat(run.stepsPerSecond()).isCloseTo(1 / 4.1, within(0.1));
    assertThat(run.stalenessMean()).isZero();
  }

  /**
   * Four of 12 tokens are two versions old, one more than the bound: 5 of the 8 others are one old.
   */
  @Test
  void stalenessMean_ofAStepWithMaskedTokens_isThatOfTheOthers() {
    MeasuredRun run = new MeasuredRun();
    for (int step = 1; step <= 2; step++) {
      run.event(step, new Event.StepStarted(step, List.of()));
      run.event(step, new Event.StepTrained(step));
    }
    LeaseId lease = new LeaseId(new GroupId(1), 1);
    TokenVersions mixed =
        new TokenVersions(
            List.of(
                new TokenVersions.Span(new WeightVersion(0), 4),
                new TokenVersions.Span(new WeightVersion(1), 5),
                new TokenVersions.Span(new WeightVersion(2), 3)));
    run.event(3, new Event.GroupBuffered(new GroupSummary(lease, List.of(1.0), List.of(mixed))));
    run.event(4, new Event.StepStarted(3, List.of(lease.group())));
    run.event(5, new Event.LossTokensCounted(3, 8, 4, 1, 1));

    assertThat(run.stalenessMean()).isEqualTo(5 / 8.0);
  }
}
