package io.troupe.core.run;

import static io.troupe.core.run.Rehearsal.lease;
import static io.troupe.core.run.Rehearsal.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.rollout.GroupId;
import org.junit.jupiter.api.Test;

/** The orders of operators, and their effects. */
class AttributionsTest {
  private static final Attribution ORDER = new Attribution("ada", "to look");

  private static Input ordered(OperatorCommand verb) {
    return new Input.Ordered(verb, ORDER);
  }

  private static Event.OrderRefused refused(OperatorCommand verb, String reason) {
    return new Event.OrderRefused(verb, ORDER, reason);
  }

  @Test
  void pause_running_grantsNothingUntilResumed() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.PauseAdmission()));
    assertThat(run.events())
        .containsExactly(new Event.OrderTaken(new OperatorCommand.PauseAdmission(), ORDER));
    assertThat(run.ask("a", 2).granted()).isEmpty();
    assertThat(run.tell(ordered(new OperatorCommand.ResumeAdmission())).granted())
        .containsExactly(1L, 2L);
  }

  @Test
  void pause_twice_isRefusedAndJournalled() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.PauseAdmission()));
    assertThat(run.tell(ordered(new OperatorCommand.PauseAdmission())).events())
        .containsExactly(
            refused(new OperatorCommand.PauseAdmission(), "admission is paused already"));
  }

  @Test
  void requeue_leasedGroup_isCancelledAndGrantedAgainFirst() {
    Rehearsal run = new Limits().begun().ask("a", 2);
    run.tell(ordered(new OperatorCommand.RequeueGroup(new GroupId(1)))).ask("a", 3);
    assertThat(run.state().ledger().cancelled()).isEqualTo(1);
    assertThat(run.leased()).containsExactly(1L, 2L);
    assertThat(run.held(1)).isEqualTo(lease(1, 3));
    assertThat(run.state().group(new GroupId(1)).attempts()).isZero();
  }

  @Test
  void requeue_bufferedGroup_isForgottenAndWaits() {
    Rehearsal run = new Limits().begun().ask("a", 1).score(1, 0);
    run.tell(ordered(new OperatorCommand.RequeueGroup(new GroupId(1))));
    assertThat(run.effects()).containsExactly(new Effect.Forget(lease(1, 1)));
    assertThat(run.waiting()).containsExactly(1L);
    assertThat(run.tell(ordered(new OperatorCommand.RequeueGroup(new GroupId(1)))).events())
        .containsExactly(
            refused(
                new OperatorCommand.RequeueGroup(new GroupId(1)),
                "g1 waits to be sampled already"));
  }

  @Test
  void cancel_leasedGroup_failsForThisEpoch() {
    Rehearsal run = new Limits().begun().ask("a", 1);
    run.tell(ordered(new OperatorCommand.CancelGroup(new GroupId(1))));
    assertThat(run.effects()).startsWith(new Effect.Cancel(lease(1, 1), worker("a")));
    assertThat(run.events()).contains(new Event.GroupFailed(new GroupId(1), "cancelled by ada"));
    assertThat(run.state().ledger().failed()).isEqualTo(1);
  }

  @Test
  void cancel_unknownGroup_isRefused() {
    OperatorCommand verb = new OperatorCommand.CancelGroup(new GroupId(9));
    assertThat(new Limits().begun().tell(ordered(verb)).events())
        .containsExactly(refused(verb, "g9 is not a live group: it ended, or never was"));
  }

  @Test
  void checkpoint_noStepRuns_savesAtOnce() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.SaveCheckpoint()));
    assertThat(run.effects()).containsExactly(new Effect.SaveCheckpoint(0, run.state(), false));
  }

  @Test
  void limit_belowTheSetting_boundsLeases() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.LimitConcurrency(1)));
    assertThat(run.ask("a", 2).granted()).containsExactly(1L);
    assertThat(run.tell(ordered(new OperatorCommand.LimitConcurrency(1_000))).events())
        .singleElement()
        .isInstanceOf(Event.OrderRefused.class);
  }

  @Test
  void restart_presentWorker_isToldToTheShell() {
    Rehearsal run = new Limits().begun().ask("a", 1);
    assertThat(run.tell(ordered(new OperatorCommand.RestartWorker(worker("a")))).effects())
        .containsExactly(new Effect.RestartWorker(worker("a")));
    assertThat(run.tell(ordered(new OperatorCommand.RestartWorker(worker("b")))).effects())
        .isEmpty();
  }

  @Test
  void drain_running_endsTheRunAsInterrupted() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.Drain()));
    assertThat(run.state().phase()).isEqualTo(new Phase.Saving(new RunEnd.Interrupted()));
    assertThat(run.tell(ordered(new OperatorCommand.Drain())).events())
        .containsExactly(refused(new OperatorCommand.Drain(), "the run drains already"));
  }

  @Test
  void resumedRun_wasPausedAndLimited_isBothStill() {
    Rehearsal run = new Limits().begun().ask("a", 2);
    run.tell(ordered(new OperatorCommand.LimitConcurrency(5)))
        .tell(ordered(new OperatorCommand.PauseAdmission()));
    assertThat(run.resume(run.state(), 0).state().controls())
        .isEqualTo(new Controls(true, false, 5));
    assertThat(run.ask("b", 3).granted()).isEmpty();
    run.tell(ordered(new OperatorCommand.ResumeAdmission()));
    assertThat(run.granted()).hasSize(3);
  }

  @Test
  void resumedRun_smallerThanItsLimit_isLimitedToItsOwnSize() {
    Rehearsal run = new Limits().begun().tell(ordered(new OperatorCommand.LimitConcurrency(5)));
    RunState large = run.state();
    assertThat(new Limits().maxConcurrent(2).starting().resume(large, 0).state().controls())
        .isEqualTo(new Controls(false, false, 2));
  }

  @Test
  void resumedRun_checkpointWasAskedFor_isAskedForNoMore() {
    Rehearsal run = new Limits().begun().ask("a", 2).score(1, 0).score(2, 0);
    RunState asked = run.tell(ordered(new OperatorCommand.SaveCheckpoint())).state();
    assertThat(asked.controls().checkpointAsked()).isTrue();
    assertThat(run.resume(asked, 0).state().controls()).isEqualTo(Controls.NONE);
  }

  @Test
  void order_nobodyOrTooLong_isRefused() {
    assertThatThrownBy(() -> new Attribution(" ", "")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Attribution("a", "x".repeat(501)))
        .hasMessageContaining("at most 500 characters each, not 1 and 501");
  }

  @Test
  void quarantineOfVerifier_fit_isJournalledAndChangesNothing() {
    OperatorCommand verb = new OperatorCommand.QuarantineVerifier("math-1");
    Rehearsal run = new Limits().begun();
    RunState before = run.state();
    assertThat(run.tell(ordered(verb)).events()).containsExactly(new Event.OrderTaken(verb, ORDER));
    assertThat(run.state()).isEqualTo(before);
    assertThat(run.effects()).isEmpty();
  }

  @Test
  void quarantineOfVerifier_unfit_isRefusedAndJournalled() {
    OperatorCommand verb = new OperatorCommand.QuarantineVerifier("math-1");
    Rehearsal run =
        new Limits().begun().tell(new Input.InapplicableCommand(verb, ORDER, "it is the last one"));
    assertThat(run.events()).containsExactly(refused(verb, "it is the last one"));
  }

  @Test
  void verb_withoutName_isRefusedInWords() {
    assertThatThrownBy(() -> new OperatorCommand.DrainNode(" "))
        .hasMessage("the order must name a node, in at most 500 characters");
  }

  @Test
  void drainOfWorker_twoAreThere_isToldAndTheLastIsRefused() {
    Rehearsal run = new Limits().begun().ask("a", 1).ask("b", 1);
    run.tell(ordered(new OperatorCommand.DrainWorker(worker("a"))));
    assertThat(run.effects()).containsExactly(new Effect.DrainWorker(worker("a")));
    run.tell(new Input.WorkerRetired(worker("a")));
    OperatorCommand last = new OperatorCommand.DrainWorker(worker("b"));
    assertThat(run.tell(ordered(last)).events())
        .containsExactly(
            refused(last, "b is the last worker, and the run would stop; drain the run instead"));
  }
}
