package io.troupe.core.run;

import static io.troupe.core.run.Rehearsal.lease;
import static io.troupe.core.run.Rehearsal.mixed;
import static io.troupe.core.run.Rehearsal.summary;
import static io.troupe.core.run.Rehearsal.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Leases of a running run: who gets them, how they end, and which answers count. */
class LeasesTest {
  @Nested
  class Granting {
    @Test
    void workRequested_demandOfOne_admitsNextPromptUnderNewLease() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      int prompt = PromptOrder.at(7, 0, 0, 10);
      assertThat(run.events())
          .containsExactly(
              new Event.DemandRaised(worker("a"), 1),
              new Event.GroupAdmitted(new GroupId(1), prompt, 0, new PromptCursor(0, 1)),
              new Event.LeaseGranted(
                  lease(1, 1), worker("a"), WeightVersion.BASE, run.now() + Limits.LEASE_MILLIS));
      assertThat(run.effects())
          .containsExactly(
              new Effect.Grant(lease(1, 1), worker("a"), prompt, 0, 0, WeightVersion.BASE));
    }

    @Test
    void workRequested_demandBeyondBound_grantsWhatTheNextStepsConsume() {
      // (eta + v + 1) B = 2 * 2
      assertThat(new Limits().begun().ask("a", 9).granted()).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void workRequested_fewConcurrentAllowed_grantsThose() {
      assertThat(new Limits().maxConcurrent(3).begun().ask("a", 9).granted())
          .containsExactly(1L, 2L, 3L);
    }

    @Test
    void workRequested_lastStepsAhead_beginsNothingThatNoStepCouldTrainOn() {
      assertThat(new Limits().steps(1).begun().ask("a", 9).granted()).containsExactly(1L, 2L);
    }

    @Test
    void workRequested_stepsWithoutEnd_grantsAsEver() {
      assertThat(new Limits().steps(Long.MAX_VALUE).begun().ask("a", 9).granted())
          .containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void workRequested_repeatedOrOvertaken_changesNothing() {
      Rehearsal run = new Limits().begun().ask("a", 2).ask("a", 2);
      assertThat(run.events()).isEmpty();
      assertThat(run.ask("a", 1).events()).isEmpty();
    }

    @Test
    void workRequested_workerThatWasLost_isPresentAgain() {
      Rehearsal run =
          new Limits().begun().ask("a", 2).tell(new Input.WorkerLost(worker("a"))).ask("a", 2);
      assertThat(run.events()).startsWith(new Event.DemandRaised(worker("a"), 2));
      assertThat(run.state().workers().get(worker("a"))).isEqualTo(new Worker(2, 2, 2, true));
    }

    @Test
    void grant_severalWorkers_hungriestFirstThenByName() {
      Rehearsal run = new Limits().starting().ask("b", 2).ask("a", 2).ask("c", 3);
      run.tell(new Input.Begin()).tell(new Input.Tick());
      assertThat(run.effects(Effect.Grant.class))
          .extracting(grant -> grant.worker().value())
          .containsExactly("c", "a", "b", "c");
    }

    @Test
    void grant_lostWorkerWithDemand_getsNothing() {
      Rehearsal run = new Limits().starting().ask("a", 2).tell(new Input.WorkerLost(worker("a")));
      assertThat(run.tell(new Input.Begin()).tell(new Input.Tick()).granted()).isEmpty();
    }

    @Test
    void grant_acceptedGroups_countAgainstCapacity() {
      Rehearsal run = new Limits().begun().ask("a", 9).score(1, 0).score(2, 0);
      assertThat(run.training()).containsExactly(1L, 2L);
      assertThat(run.granted()).isEmpty();
      assertThat(run.trained().granted()).containsExactly(5L, 6L);
    }

    @Test
    void grant_lockStepWithLeaseOutstanding_waitsUntilNothingRuns() {
      Rehearsal run = new Limits().lockStep().begun().ask("a", 9);
      assertThat(run.granted()).containsExactly(1L, 2L);
      assertThat(run.fail(1).granted()).isEmpty();
      assertThat(run.waiting()).containsExactly(1L);
      assertThat(run.score(2, 0).granted()).containsExactly(1L);
    }

    @Test
    void grant_endOfPool_goesOnWithNextEpochInAnotherOrder() {
      Rehearsal run = new Limits().prompts(3).stale(StalePolicy.MASK, 2).begun().ask("a", 6);
      assertThat(run.effects(Effect.Grant.class))
          .extracting(Effect.Grant::epoch)
          .containsExactly(0L, 0L, 0L, 1L, 1L, 1L);
      assertThat(run.effects(Effect.Grant.class).subList(0, 3))
          .extracting(Effect.Grant::prompt)
          .containsExactlyInAnyOrder(0, 1, 2);
      assertThat(run.state().cursor()).isEqualTo(new PromptCursor(2, 0));
    }

    @Test
    void grant_epochsExhausted_admitsNoMore() {
      assertThat(new Limits().prompts(3).epochs(1).begun().ask("a", 9).granted())
          .containsExactly(1L, 2L, 3L);
    }
  }

  @Nested
  class Ending {
    @Test
    void tick_beforeDeadline_keepsLease() {
      Rehearsal run = new Limits().begun().ask("a", 1).pass(Limits.LEASE_MILLIS - 1);
      assertThat(run.events()).isEmpty();
    }

    @Test
    void tick_atDeadline_endsLeaseAndTellsWorker() {
      Rehearsal run = new Limits().begun().ask("a", 1).pass(Limits.LEASE_MILLIS);
      assertThat(run.events())
          .containsExactly(
              new Event.LeaseEnded(
                  lease(1, 1), LeaseEndReason.EXPIRED, "a did not answer within 100 ms"));
      assertThat(run.effects()).containsExactly(new Effect.Cancel(lease(1, 1), worker("a")));
      assertThat(run.waiting()).containsExactly(1L);
      assertThat(run.state().ledger().expired()).isEqualTo(1);
    }

    @Test
    void groupFailed_currentLease_requeuesFirstInLineUnderGreaterFence() {
      Rehearsal run = new Limits().begun().ask("a", 4).fail(2);
      assertThat(run.waiting()).containsExactly(2L);
      run.ask("b", 1);
      assertThat(run.effects(Effect.Grant.class))
          .extracting(Effect.Grant::lease, grant -> grant.worker().value())
          .containsExactly(tuple(lease(2, 5), "b"));
      assertThat(run.state().ledger().failures()).isEqualTo(1);
    }

    @Test
    void groupFailed_endedLease_isRefused() {
      Rehearsal run = new Limits().begun().ask("a", 1).fail(1);
      run.tell(new Input.GroupFailed(lease(1, 1), new LeaseFailure.OfPrompt("again")));
      assertThat(run.events())
          .containsExactly(new Event.AnswerRefused(lease(1, 1), "its lease has ended"));
    }

    @Test
    void workerLost_sixTimesUnderAGroup_givesItUpAndFiveTimesDoesNot() {
      Rehearsal run = new Limits().begun();
      for (int death = 1; death <= 5; death++) {
        run.ask("a" + death, 1).tell(new Input.WorkerLost(worker("a" + death)));
        assertThat(run.waiting()).containsExactly(1L);
      }
      run.ask("b", 1).tell(new Input.WorkerLost(worker("b")));
      assertThat(run.events())
          .contains(
              new Event.GroupFailed(
                  new GroupId(1), "6 expired or were lost with their worker, the last: b is gone"));
    }

    @Test
    void groupFailed_tooManyAttempts_givesGroupUp() {
      Rehearsal run = new Limits().begun().ask("a", 3).fail(1).ask("a", 5).fail(1).ask("a", 6);
      LeaseId third = run.held(1);
      run.fail(1);
      assertThat(run.events())
          .startsWith(
              new Event.LeaseEnded(third, LeaseEndReason.FAILED, "it ends its verifier"),
              new Event.GroupFailed(
                  new GroupId(1), "3 attempts failed, the last: it ends its verifier"));
      assertThat(run.state().groups()).doesNotContainKey(new GroupId(1));
      assertThat(run.state().ledger().failed()).isEqualTo(1);
      assertThat(run.state().ledger().failures()).isEqualTo(3);
    }

    @Test
    void workerLost_itsLeases_endAndOthersStay() {
      Rehearsal run = new Limits().begun().ask("a", 2).ask("b", 1);
      run.tell(new Input.WorkerLost(worker("a")));
      assertThat(run.events())
          .containsExactly(
              new Event.WorkerLost(worker("a")),
              new Event.LeaseEnded(lease(1, 1), LeaseEndReason.WORKER_LOST, "a is gone"),
              new Event.LeaseEnded(lease(2, 2), LeaseEndReason.WORKER_LOST, "a is gone"));
      assertThat(run.leased()).containsExactly(3L);
      assertThat(run.state().ledger().lost()).isEqualTo(2);
    }

    @Test
    void workerRetired_itsLeases_goOnAndItGetsNoOther() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.WorkerRetired(worker("a")));
      assertThat(run.events()).containsExactly(new Event.WorkerRetired(worker("a")));
      assertThat(run.effects()).isEmpty();
      assertThat(run.leased()).containsExactly(1L);
      assertThat(run.tell(new Input.WorkerRetired(worker("a"))).events()).isEmpty();
      assertThat(run.score(1, 0).state().buffered()).hasSize(1);
      assertThat(run.effects()).containsExactly(new Effect.Release(worker("a")));
    }

    @Test
    void workerRetired_withoutLeases_isReleasedAtOnce() {
      Rehearsal run = new Limits().begun().ask("a", 1).score(1, 0);
      assertThat(run.tell(new Input.WorkerRetired(worker("a"))).effects())
          .containsExactly(new Effect.Release(worker("a")));
    }

    @Test
    void workerRetired_itsLastLeaseFails_isReleased() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.WorkerRetired(worker("a")));
      run.tell(new Input.GroupFailed(lease(1, 1), new LeaseFailure.OfEngine("the engine failed")));
      assertThat(run.effects()).containsExactly(new Effect.Release(worker("a")));
    }

    @Test
    void workerLost_retiredBefore_losesItsLeases() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.WorkerRetired(worker("a")));
      run.tell(new Input.WorkerLost(worker("a")));
      assertThat(run.events())
          .containsExactly(
              new Event.LeaseEnded(lease(1, 1), LeaseEndReason.WORKER_LOST, "a is gone"));
    }

    @Test
    void workerLost_againOrUnknown_changesNothing() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.WorkerLost(worker("a")));
      assertThat(run.tell(new Input.WorkerLost(worker("a"))).events()).isEmpty();
      assertThat(run.tell(new Input.WorkerLost(worker("x"))).events()).isEmpty();
    }

    @Test
    void stepTrained_leaseGrantedTooLongAgoUnderDrop_isCancelledWithoutBlame() {
      Rehearsal doomed = new Limits().stale(StalePolicy.DROP, 1).begun().ask("a", 4);
      doomed.score(1, 0).score(2, 0).trained().ask("a", 6).score(5, 1).score(6, 1).trained();
      assertThat(doomed.events())
          .contains(
              new Event.LeaseEnded(lease(3, 3), LeaseEndReason.STALE, "granted at v0"),
              new Event.LeaseEnded(lease(4, 4), LeaseEndReason.STALE, "granted at v0"));
      assertThat(doomed.effects())
          .contains(
              new Effect.Cancel(lease(3, 3), worker("a")),
              new Effect.Cancel(lease(4, 4), worker("a")));
      assertThat(doomed.state().group(new GroupId(3)).attempts()).isZero();
      assertThat(doomed.state().ledger().stale()).isEqualTo(2);
    }

    @Test
    void stepTrained_sameLeaseUnderMask_goesOn() {
      Rehearsal run = new Limits().begun().ask("a", 4);
      run.score(1, 0).score(2, 0).trained().ask("a", 6).score(5, 1).score(6, 1).trained();
      assertThat(run.leased()).contains(3L, 4L);
    }
  }

  @Nested
  class Answering {
    @Test
    void groupSampled_currentLease_isNotedOnce() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.GroupSampled(lease(1, 1)));
      assertThat(run.events())
          .containsExactly(new Event.LeaseSampled(lease(1, 1), run.now() + Limits.LEASE_MILLIS));
      assertThat(run.state().lease(lease(1, 1)).map(Group.Leased::sampled)).contains(true);
      assertThat(run.tell(new Input.GroupSampled(lease(1, 1))).events()).isEmpty();
    }

    @Test
    void groupSampled_unknownLease_changesNothing() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      assertThat(run.tell(new Input.GroupSampled(lease(1, 2))).events()).isEmpty();
      assertThat(run.tell(new Input.GroupSampled(lease(9, 1))).events()).isEmpty();
    }

    @Test
    void groupScored_currentLease_isBuffered() {
      Rehearsal run = new Limits().begun().ask("a", 1).score(1, 0);
      assertThat(run.events())
          .containsExactly(new Event.GroupBuffered(summary(lease(1, 1), 0, 0, 1)));
      assertThat(run.effects()).isEmpty();
      assertThat(run.buffered()).containsExactly(1L);
    }

    @Test
    void groupScored_leaseThatExpired_isRefusedAndForgotten() {
      Rehearsal run = new Limits().begun().ask("a", 2).pass(Limits.LEASE_MILLIS);
      run.tell(new Input.GroupScored(summary(lease(1, 1), 0, 0, 1)));
      refused(run, lease(1, 1), "its lease has ended");
    }

    @Test
    void groupScored_fencedByALaterLeaseOfTheGroup_isRefusedAndTheLaterOneStays() {
      Rehearsal run = new Limits().begun().ask("a", 1).fail(1).ask("a", 2);
      run.tell(new Input.GroupScored(summary(lease(1, 1), 0, 0, 1)));
      refused(run, lease(1, 1), "its lease has ended");
      assertThat(run.held(1)).isEqualTo(lease(1, 2));
    }

    @Test
    void groupScored_twice_keepsTheTokensOfTheFirst() {
      Rehearsal run = new Limits().begun().ask("a", 2).score(1, 0);
      Input again = new Input.GroupScored(summary(lease(1, 1), 0, 0, 1));
      assertThat(run.tell(again).effects()).isEmpty();
      run.score(2, 0);
      assertThat(run.training()).containsExactly(1L, 2L);
      run.tell(again);
      assertThat(run.events())
          .containsExactly(new Event.AnswerRefused(lease(1, 1), "its lease has ended"));
      assertThat(run.effects()).isEmpty();
      assertThat(run.state().ledger().refused()).isEqualTo(2);
    }

    @Test
    void groupScored_underAnOldLeaseOfABufferedGroup_isForgotten() {
      Rehearsal run = new Limits().begun().ask("a", 1).fail(1).ask("a", 2).score(1, 0);
      run.tell(new Input.GroupScored(summary(lease(1, 1), 0, 0, 1)));
      refused(run, lease(1, 1), "its lease has ended");
      assertThat(run.buffered()).containsExactly(1L);
    }

    @Test
    void groupScored_wrongNumberOfCompletions_isRefusedUnderItsLease() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      run.tell(new Input.GroupScored(summary(lease(1, 1), 0, 0, 1, 1)));
      refused(run, lease(1, 1), "it has 3 completions, not 2");
      assertThat(run.leased()).containsExactly(1L);
    }

    @Test
    void groupScored_tokensFromTheFuture_isRefused() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      run.tell(new Input.GroupScored(mixed(lease(1, 1), 0, 1)));
      refused(run, lease(1, 1), "it claims tokens of v1, and the newest weights are v0");
    }

    @Test
    void groupScored_tokensOlderThanTheLease_isRefused() {
      Rehearsal run = new Limits().begun().ask("a", 2).score(1, 0).score(2, 0).trained();
      run.ask("a", 3).tell(new Input.GroupScored(mixed(lease(3, 3), 0, 1)));
      refused(run, lease(3, 3), "it has tokens of v0, and its lease asks for v1 or newer");
    }

    private static void refused(Rehearsal run, LeaseId lease, String reason) {
      assertThat(run.events()).containsExactly(new Event.AnswerRefused(lease, reason));
      assertThat(run.effects()).containsExactly(new Effect.Forget(lease));
    }
  }

  @Nested
  class Filtering {
    @Test
    void groupScored_equalRewards_isFilteredAndForgotten() {
      Rehearsal run = new Limits().begun().ask("a", 1).scoreEqual(1);
      assertThat(run.events())
          .containsExactly(new Event.GroupFiltered(summary(lease(1, 1), 0, 1, 1)));
      assertThat(run.effects()).containsExactly(new Effect.Forget(lease(1, 1)));
      assertThat(run.state().groups()).isEmpty();
      assertThat(run.state().streaks().filtered()).isEqualTo(1);
    }

    @Test
    void groupScored_equalRewardsWithoutFilter_isBuffered() {
      assertThat(new Limits().withoutFilter().begun().ask("a", 1).scoreEqual(1).buffered())
          .containsExactly(1L);
    }

    @Test
    void groupScored_onlyEqualRewards_endsTheRunAtTheLimit() {
      Rehearsal run = new Limits().begun().ask("a", 9);
      for (long group = 1; group <= 4; group++) {
        run.tell(new Input.GroupScored(summary(run.held(group), 0, 0, 0)));
      }
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
      run.scoreEqual(5);
      String reason = failure(run).orElseThrow();
      assertThat(reason)
          .startsWith("the last 5 groups all had equal rewards")
          .contains("training.");
      assertThat(run.effects(Effect.Stop.class))
          .containsExactly(new Effect.Stop(new RunEnd.Failed(reason)));
    }

    @Test
    void groupScored_oneAcceptedBetween_countsAnew() {
      Rehearsal run = new Limits().begun().ask("a", 9).scoreEqual(1).scoreEqual(2).score(3, 0);
      assertThat(run.state().streaks().filtered()).isZero();
    }

    private static Optional<String> failure(Rehearsal run) {
      return run.state().phase() instanceof Phase.Ended(RunEnd.Failed(String reason))
          ? Optional.of(reason)
          : Optional.empty();
    }
  }

  /** Fences never repeat, whatever happens to the groups. */
  @Test
  void grant_afterRequeues_fencesOnlyGrow() {
    Rehearsal run = new Limits().begun().ask("a", 2).fail(1).fail(2).ask("a", 4);
    assertThat(run.state().leases().map(held -> held.lease().fence()).toList())
        .isEqualTo(List.of(3L, 4L));
    assertThat(run.state().lastFence()).isEqualTo(4);
  }
}
