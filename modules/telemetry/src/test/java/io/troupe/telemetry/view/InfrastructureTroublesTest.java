package io.troupe.telemetry.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.trace.LineBacklog;
import io.troupe.telemetry.export.PrometheusText;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The views of infrastructure that is out of order: the part, the time and the reason. */
final class InfrastructureTroublesTest {
  private static final WorkerId WORKER = WorkerId.at("rollout-1", "0123abcd");

  private static Event.WorkerSuspended suspended(int failures, long at, long until) {
    return new Event.WorkerSuspended(WORKER, failures, "no route", at, until);
  }

  @Test
  void event_workerSuspendedAgainAndAgain_isOneTroubleSinceTheFirstTime() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    assertThat(troubles.event(1_000, suspended(3, 0, 1_000)))
        .contains("worker rollout-1 is suspended after 3 failures in a row: no route");
    assertThat(troubles.event(3_000, suspended(4, 0, 2_000))).isEmpty();
    assertThat(troubles.at(3_000))
        .containsExactly(
            new RunView.Trouble(
                "worker rollout-1", "is suspended after 4 failures in a row", 1_000, "no route"));
    WorkerId next = WorkerId.at("rollout-1", "4567abcd");
    assertThat(troubles.event(8_000, new Event.WorkerResumed(next)))
        .contains("worker rollout-1 works again after 7.0 s");
    assertThat(troubles.at(8_000)).isEmpty();
    assertThat(troubles.event(9_000, new Event.WorkerResumed(next))).isEmpty();
  }

  @Test
  void event_verifiersAway_isOneTroubleUntilTheyJudge() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    assertThat(troubles.event(1_000, new Event.VerificationSuspended("no image", 0, 1_000)))
        .contains("verifiers are away, and nothing new is sampled until one judges: no image");
    assertThat(troubles.event(2_000, new Event.VerificationSuspended("no room", 0, 2_000)))
        .isEmpty();
    assertThat(troubles.ofVerifiers())
        .contains(
            new RunView.Trouble(
                "verifiers",
                "are away, and nothing new is sampled until one judges",
                1_000,
                "no room"));
    assertThat(troubles.event(121_000, new Event.VerificationResumed()))
        .contains("verifiers judge again after 2 min");
    assertThat(troubles.ofVerifiers()).isEmpty();
  }

  @Test
  void event_ranksWentBack_isOneTroubleOfTheTrainerUntilAStepEnds() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    assertThat(troubles.event(1_000, new Event.RanksWentBack(2, "piece 1 of 3 is lost")))
        .contains(
            "trainer ranks go back to their last saved state and make 2 steps again first:"
                + " piece 1 of 3 is lost");
    assertThat(troubles.event(2_000, new Event.RanksWentBack(1, "piece 2 of 3 is lost"))).isEmpty();
    assertThat(troubles.at(900_000))
        .containsExactly(
            new RunView.Trouble(
                "trainer ranks",
                "go back to their last saved state and make 1 step again first",
                1_000,
                "piece 2 of 3 is lost"));
    assertThat(troubles.ofSampling(2_000)).isEmpty();
    assertThat(troubles.event(61_000, new Event.StepTrained(3)))
        .contains("trainer ranks train again after 60.0 s");
    assertThat(troubles.at(61_000)).isEmpty();
    assertThat(troubles.event(62_000, new Event.StepTrained(4))).isEmpty();
  }

  @Test
  void at_placeThatNothingIsHeardOfForTenMinutes_hasLeft() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    var _ = troubles.event(1_000, suspended(3, 0, 1_000));
    assertThat(troubles.at(600_999)).hasSize(1);
    assertThat(troubles.at(601_000)).isEmpty();
  }

  @Test
  void event_workerRetiredOrRunResumed_isNoTroubleAnyMore() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    var _ = troubles.event(1_000, suspended(3, 0, 1_000));
    assertThat(troubles.event(1_500, new Event.WorkerRetired(WORKER))).isEmpty();
    assertThat(troubles.at(1_500)).isEmpty();
    var _ = troubles.event(2_000, suspended(3, 0, 1_000));
    assertThat(troubles.event(2_500, new Event.RunStarted())).isEmpty();
    assertThat(troubles.at(2_500)).isEmpty();
  }

  @Test
  void events_outage_areLinesOfTheStory() {
    RunFold fold = new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10, 9, 1), 100);
    fold.event(1_000, new Event.RunStarted());
    fold.event(2_000, suspended(3, 5_000, 7_000));
    fold.event(3_000, new Event.WorkerResumed(WORKER));
    fold.event(4_000, new Event.VerificationSuspended("no image", 5_000, 6_000));
    fold.event(5_000, new Event.VerificationResumed());
    fold.event(6_000, new Event.TaskMastered(50));
    fold.event(7_000, new Event.RanksWentBack(2, "piece 1 of 3 is lost"));
    assertThat(fold.events(1, 0, 100))
        .extracting(EventText::atMillis, EventText::tone, EventText::worker, EventText::text)
        .containsExactly(
            tuple(
                2_000L,
                "bad",
                WORKER.value(),
                "rollout-1-0123abcd is suspended for 2.0 s after 3 failures in a row: no route"),
            tuple(3_000L, "good", WORKER.value(), "rollout-1-0123abcd works again"),
            tuple(4_000L, "bad", "", "verifiers are away, nothing is granted for 1.0 s: no image"),
            tuple(5_000L, "good", "", "verifiers judge again"),
            tuple(6_000L, "good", "", "every completion of the last 50 groups was right"),
            tuple(
                7_000L,
                "bad",
                "",
                "trainer ranks go back to their last saved state, 2 steps again:"
                    + " piece 1 of 3 is lost"));
  }

  @Test
  void view_oneOfTwoWorkersSuspended_isTroubleButNoStandstill() {
    Rehearsed run = new Rehearsed(1).ask("a", 3);
    for (LeaseId lease : leases(run)) {
      run.tell(new Input.GroupFailed(lease, new LeaseFailure.OfEngine("no route")));
    }
    RunView alone = run.fold.view(run.now());
    assertThat(alone.standstill()).isTrue();
    assertThat(alone.troubles())
        .containsExactly(
            new RunView.Trouble(
                "worker a", "is suspended after 3 failures in a row", run.now(), "no route"));
    run.ask("b", 3).pass(4_000);
    RunView both = run.fold.view(run.now());
    assertThat(both.standstill()).isFalse();
    assertThat(both.troubles()).isEqualTo(alone.troubles());
  }

  @Test
  void view_everythingFails_namesItAsTheBottleneckWithItsReasonAndItsTime() {
    Rehearsed run = new Rehearsed(1).ask("a", 3);
    for (LeaseId lease : leases(run)) {
      run.tell(new Input.GroupFailed(lease, new LeaseFailure.OfEngine("no route")));
    }
    assertThat(run.pass(4_000).fold.view(run.now()).bottleneck())
        .isEqualTo("worker a is suspended after 3 failures in a row, for 4.0 s now: no route");
  }

  @Test
  void view_verifiersNotHeardOfForAnHour_areTroubleAndStandstillYet() {
    Rehearsed run = new Rehearsed(1).ask("a", 3);
    run.tell(new Input.VerifierAway(leases(run).getFirst(), "no image")).pass(3_600_000);
    RunView view = run.fold.view(run.now());
    assertThat(view.standstill()).isTrue();
    assertThat(view.troubles())
        .extracting(RunView.Trouble::who, RunView.Trouble::since)
        .containsExactly(tuple("verifiers", Rehearsed.START));
    assertThat(view.bottleneck())
        .isEqualTo(
            "verifiers are away, and nothing new is sampled until one judges, for 60 min now: no"
                + " image");
  }

  private static LineBacklog backlog(int lines, long refused, boolean full) {
    return new LineBacklog(new LineBacklog.Limits(100, 1 << 20), lines, lines, refused, full);
  }

  @Test
  void traces_refusedThenTaken_areOneTroubleSinceTheFirstLineAndNoStandstill() {
    RunFold fold = new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10, 9, 1), 100);
    fold.event(1_000, new Event.RunStarted());
    fold.event(1_000, new Event.DemandRaised(WORKER, 3));
    fold.traces(2_000, backlog(75, 1, true));
    fold.traces(3_000, backlog(75, 17, true));
    RunView full = fold.view(1_000_000);
    assertThat(full.troubles())
        .containsExactly(
            new RunView.Trouble(
                "traces",
                "are not complete, because their disk does not keep up",
                2_000,
                "75 lines wait, 17 were refused so far"));
    assertThat(full.standstill()).isFalse();
    assertThat(full.bottleneck()).doesNotContain("traces");
    assertThat(PrometheusText.of(full)).contains("troupe_trace_lines_refused_total{run=\"r\"} 17");
    fold.traces(4_000, backlog(50, 17, false));
    RunView after = fold.view(4_000);
    assertThat(after.troubles()).isEmpty();
    assertThat(after.traceLinesRefused()).isEqualTo(17);
  }

  @Test
  void tracker_failsThenWorks_isOneTroubleSinceTheFirstFailureAndNoStandstill() {
    RunFold fold = new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10, 9, 1), 100);
    fold.event(1_000, new Event.RunStarted());
    fold.event(1_000, new Event.DemandRaised(WORKER, 3));
    fold.tracker(2_000, "wandb", 4, "refused");
    fold.tracker(2_000, "mlflow", -1, "no answer");
    fold.tracker(3_000, "wandb", 4, "no answer");
    RunView behind = fold.view(1_000_000);
    assertThat(behind.troubles())
        .containsExactly(
            new RunView.Trouble("tracker wandb", "is behind at step 4", 2_000, "no answer"),
            new RunView.Trouble(
                "tracker mlflow", "is behind, and has no step", 2_000, "no answer"));
    assertThat(behind.standstill()).isFalse();
    assertThat(behind.bottleneck()).doesNotContain("tracker");
    fold.tracker(4_000, "wandb", 9, "");
    assertThat(fold.view(4_000).troubles())
        .extracting(RunView.Trouble::who)
        .containsExactly("tracker mlflow");
  }

  @Test
  void traces_eachChange_isOneSentence() {
    InfrastructureTroubles troubles = new InfrastructureTroubles();
    assertThat(troubles.traces(2_000, backlog(75, 1, true)))
        .contains(
            "traces are not complete, because their disk does not keep up: 75 lines wait, 1 were"
                + " refused so far");
    assertThat(troubles.traces(3_000, backlog(75, 2, true))).isEmpty();
    assertThat(troubles.traces(4_500, backlog(50, 2, false)))
        .contains("traces are written again, 2 lines are missing after 2.5 s");
    assertThat(troubles.traces(5_000, backlog(9, 2, false))).isEmpty();
  }

  @Test
  void view_noWorkerForTwoMinutes_isTroubleAndStandstillSinceTheLastOneLeft() {
    Rehearsed run = new Rehearsed(1);
    assertThat(run.pass(119_999).fold.view(run.now()).standstill()).isFalse();
    RunView never = run.pass(1).fold.view(run.now());
    assertThat(never.standstill()).isTrue();
    assertThat(never.troubles())
        .containsExactly(
            new RunView.Trouble(
                "workers",
                "are missing: none asks for work",
                Rehearsed.START,
                "look at the logs of workers and nodes"));
    run.ask("a", 3).ask("b", 3);
    assertThat(run.fold.view(run.now()).troubles()).isEmpty();
    run.pass(1_000).tell(new Input.WorkerLost(new WorkerId("a")));
    assertThat(run.pass(600_000).fold.view(run.now()).troubles())
        .as("one is there, whatever it does")
        .isEmpty();
    run.tell(new Input.WorkerLost(new WorkerId("b")));
    long left = run.now();
    assertThat(run.pass(119_999).fold.view(run.now()).standstill()).isFalse();
    RunView lost = run.pass(1).fold.view(run.now());
    assertThat(lost.standstill()).isTrue();
    assertThat(lost.troubles()).extracting(RunView.Trouble::since).containsExactly(left);
    assertThat(lost.bottleneck())
        .isEqualTo(
            "workers are missing: none asks for work, for 2 min now: look at the logs of workers"
                + " and nodes");
    run.ask("c", 3);
    assertThat(run.fold.view(run.now()).standstill()).isFalse();
  }

  @Test
  void view_runResumedWithoutWorkers_countsFromTheResume() {
    Rehearsed run = new Rehearsed(1).ask("a", 3).pass(600_000).resume();
    long resumed = run.now();
    assertThat(run.pass(119_999).fold.view(run.now()).standstill()).isFalse();
    assertThat(run.pass(1).fold.view(run.now()).troubles())
        .extracting(RunView.Trouble::who, RunView.Trouble::since)
        .containsExactly(tuple("workers", resumed));
  }

  private static List<LeaseId> leases(Rehearsed run) {
    return run.state().leases().map(held -> held.lease()).toList();
  }
}
