package io.troupe.core.run;

import static io.troupe.core.run.Rehearsal.lease;
import static io.troupe.core.run.Rehearsal.summary;
import static io.troupe.core.run.Rehearsal.worker;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The phases of a run; what happens while it is running is in LeasesTest and StepsTest. */
class CoordinationTest {
  private static final RunEnd INTERRUPTED = new RunEnd.Interrupted();
  private static final RunEnd COMPLETED = new RunEnd.Completed();

  @Nested
  class Starting {
    @Test
    void begin_noEvaluation_savesAndPublishesTheBase() {
      Rehearsal run = new Limits().begun();
      assertThat(run.events()).containsExactly(new Event.RunStarted());
      assertThat(run.effects())
          .containsExactly(
              new Effect.SaveCheckpoint(0, run.state(), false),
              new Effect.Publish(WeightVersion.BASE));
    }

    @Test
    void begin_evaluation_evaluatesTheBase() {
      assertThat(new Limits().evaluateEvery(3).begun().effects())
          .contains(new Effect.Evaluate(0, WeightVersion.BASE));
    }

    @Test
    void begin_twice_changesNothing() {
      Rehearsal run = new Limits().begun().tell(new Input.Begin());
      assertThat(run.events()).isEmpty();
      assertThat(run.effects()).isEmpty();
    }

    @Test
    void workRequested_beforeBegin_isRememberedUntilThen() {
      Rehearsal run = new Limits().starting().ask("a", 2);
      assertThat(run.events()).containsExactly(new Event.DemandRaised(worker("a"), 2));
      assertThat(run.effects()).isEmpty();
      assertThat(run.tell(new Input.Begin()).granted()).isEmpty();
      assertThat(run.tell(new Input.Tick()).granted()).containsExactly(1L, 2L);
    }

    /** A warm-up goes by the ranks, too. */
    @Test
    void ranksWentBack_atAnyTime_isAnEventThatChangesNothingElse() {
      for (Rehearsal run :
          List.of(
              new Limits().starting(), new Limits().begun(), new Limits().begun().ask("a", 2))) {
        RunState before = run.state();
        run.tell(new Input.RanksWentBack(7, "rank 1 and rank 2 are lost"));
        assertThat(run.events())
            .containsExactly(new Event.RanksWentBack(7, "rank 1 and rank 2 are lost"));
        assertThat(run.effects()).isEmpty();
        assertThat(run.state()).isEqualTo(before);
      }
    }

    @Test
    void drainRequested_beforeBegin_endsAtOnce() {
      Rehearsal run = new Limits().starting().tell(new Input.DrainRequested());
      assertThat(run.events()).containsExactly(new Event.RunEnded(INTERRUPTED));
      assertThat(run.effects()).containsExactly(new Effect.Stop(INTERRUPTED));
    }

    @Test
    void broken_beforeBegin_endsAsFailed() {
      RunEnd failed = new RunEnd.Failed("no memory");
      Rehearsal run = new Limits().starting().tell(new Input.Broken("no memory"));
      assertThat(run.events()).containsExactly(new Event.RunEnded(failed));
      assertThat(run.effects()).containsExactly(new Effect.Stop(failed));
    }
  }

  @Nested
  class Running {
    @Test
    void stepTrained_lastStep_savesAndCancelsWhatIsUnderLease() {
      Rehearsal run = new Limits().steps(1).begun().ask("a", 2).score(1, 0).score(2, 0).trained();
      assertThat(run.events())
          .containsExactly(new Event.StepTrained(1), new Event.SavingStarted(COMPLETED));
      assertThat(run.effects()).endsWith(new Effect.SaveCheckpoint(1, run.state(), true));
    }

    @Test
    void groupFiltered_lastOfTheLastEpochWithoutAStep_fails() {
      Rehearsal run = new Limits().prompts(1).epochs(1).begun().ask("a", 1).scoreEqual(1);
      assertThat(run.state().phase())
          .isEqualTo(
              new Phase.Saving(
                  new RunEnd.Failed(
                      "no step moved the weights: of 1 groups 0 were given up, 1 filtered, and 0 in"
                          + " skipped steps")));
    }

    @Test
    void groupFiltered_lastOfTheLastEpochAfterAStep_completes() {
      Rehearsal run = new Limits().prompts(3).epochs(1).begun().ask("a", 3);
      run.score(1, 0).score(2, 0).trained().scoreEqual(3);
      assertThat(run.state().phase()).isEqualTo(new Phase.Saving(COMPLETED));
    }

    @Test
    void evaluated_targetReached_drainsAndCompletes() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.Evaluated(3, 0.9));
      assertThat(run.events())
          .containsExactly(new Event.DrainStarted(run.now() + Limits.DRAIN_MILLIS, COMPLETED));
      run.score(1, 0);
      assertThat(run.state().phase()).isEqualTo(new Phase.Saving(COMPLETED));
    }

    @Test
    void evaluated_belowTargetOrBeforeTheFirstStep_changesNothing() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      assertThat(run.tell(new Input.Evaluated(3, 0.89)).events()).isEmpty();
      assertThat(run.tell(new Input.Evaluated(0, 1)).events()).isEmpty();
    }

    @Test
    void broken_running_endsAsFailed() {
      Rehearsal run = new Limits().begun().ask("a", 1).tell(new Input.Broken("disk full"));
      assertThat(run.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Failed("disk full")));
    }

    @Test
    void checkpointSaved_notTheLast_isNoted() {
      Rehearsal run = new Limits().begun().tell(new Input.CheckpointSaved(0, false));
      assertThat(run.events()).containsExactly(new Event.CheckpointSaved(0));
      assertThat(run.effects()).isEmpty();
      // A late answer of a former process must not end this one.
      assertThat(run.tell(new Input.CheckpointSaved(0, true)).effects()).isEmpty();
    }
  }

  /** The treatment of groups whose completions are all right: the limit is 5 in a row. */
  @Nested
  class Mastering {
    private static Rehearsal trainedOnce(Limits limits) {
      return limits.begun().ask("a", 9).score(1, 0).score(2, 0).trained();
    }

    private static Rehearsal perfect(Rehearsal run, int groups) {
      return scored(run, groups, 1, 1);
    }

    private static Rehearsal scored(Rehearsal run, int groups, double first, double second) {
      for (int i = 0; i < groups; i++) {
        Group.Leased held = run.state().leases().findFirst().orElseThrow();
        run.tell(
            new Input.GroupScored(
                summary(held.lease(), run.state().version().number(), first, second)));
      }
      return run;
    }

    @Test
    void groupFiltered_perfectInARowAfterAStep_isMasteredAndCompletes() {
      Rehearsal run = perfect(trainedOnce(new Limits()), 4);
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
      perfect(run, 1);
      assertThat(run.events())
          .contains(new Event.TaskMastered(5))
          .endsWith(new Event.SavingStarted(COMPLETED));
      assertThat(run.effects()).endsWith(new Effect.SaveCheckpoint(1, run.state(), true));
      assertThat(run.leased()).as("what is under lease is cancelled").isEmpty();
      run.tell(new Input.CheckpointSaved(1, true));
      assertThat(run.state().phase()).isEqualTo(new Phase.Ended(COMPLETED));
    }

    @Test
    void groupFiltered_perfectInARowBeforeAnyStep_isTooEasyAndFails() {
      Rehearsal run = perfect(new Limits().begun().ask("a", 9), 5);
      assertThat(run.state().phase())
          .isEqualTo(
              new Phase.Ended(
                  new RunEnd.Failed(
                      "every completion of the last 5 groups was right, so there is nothing to"
                          + " learn: the task is too easy for this policy")));
    }

    @Test
    void groupFiltered_oneOfThemWrongInAll_isHopelessNotMastered() {
      Rehearsal run = perfect(scored(perfect(trainedOnce(new Limits()), 2), 1, 0, 0), 2);
      assertThat(run.state().phase())
          .isInstanceOfSatisfying(
              Phase.Ended.class,
              ended ->
                  assertThat(ended.end().toString())
                      .contains("the last 5 groups all had equal rewards"));
    }

    @Test
    void groupBuffered_betweenPerfectGroups_countsThemAgain() {
      Rehearsal run = perfect(trainedOnce(new Limits()), 4);
      scored(run, 1, 0, 1);
      assertThat(run.state().streaks().perfect()).isZero();
      perfect(run.ask("a", 20), 4);
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
    }

    @Test
    void groupScored_perfectUnderFilterPerfectAlone_isFilteredAndWrongOnesAreNot() {
      Limits limits = new Limits().withoutFilter().withoutPerfectGroups();
      Rehearsal run = limits.begun().ask("a", 4).scoreEqual(1);
      assertThat(run.events())
          .containsExactly(new Event.GroupFiltered(summary(lease(1, 1), 0, 1, 1)));
      assertThat(run.effects()).contains(new Effect.Forget(lease(1, 1)));
      run.tell(new Input.GroupScored(summary(run.held(2), 0, 0, 0)));
      assertThat(run.buffered()).containsExactly(2L);
      run.tell(new Input.GroupScored(summary(run.held(3), 0, 1, 1 - 1e-7)));
      assertThat(run.events())
          .as("a rounding of weighted sums")
          .hasAtLeastOneElementOfType(Event.GroupFiltered.class);
      run.tell(new Input.GroupScored(summary(run.held(4), 0, 1, 0.99)));
      assertThat(run.training()).containsExactly(2L, 4L);
    }
  }

  @Nested
  class Draining {
    private static Rehearsal drained(Rehearsal run) {
      return run.tell(new Input.DrainRequested());
    }

    @Test
    void drainRequested_leasesOutstanding_waitsForThemAndGrantsNoMore() {
      Rehearsal run = drained(new Limits().begun().ask("a", 2));
      assertThat(run.events())
          .containsExactly(
              new Event.DrainStarted(run.now() + Limits.DRAIN_MILLIS, new RunEnd.Interrupted()));
      assertThat(run.ask("a", 9).granted()).isEmpty();
      assertThat(run.score(1, 0).buffered()).containsExactly(1L);
      run.score(2, 0);
      assertThat(run.effects()).containsExactly(new Effect.SaveCheckpoint(0, run.state(), true));
      assertThat(run.state().phase()).isEqualTo(new Phase.Saving(INTERRUPTED));
      assertThat(run.buffered()).as("they are saved, not trained").containsExactly(1L, 2L);
    }

    @Test
    void drainRequested_nothingGoingOn_savesAtOnce() {
      Rehearsal run = drained(new Limits().begun());
      assertThat(run.events()).endsWith(new Event.SavingStarted(INTERRUPTED));
    }

    @Test
    void drainRequested_again_changesNothing() {
      Rehearsal run = drained(new Limits().begun().ask("a", 1));
      assertThat(drained(run).events()).isEmpty();
    }

    @Test
    void tick_drainDeadline_cancelsLeasesAndRequeuesTheirGroups() {
      Rehearsal run = drained(new Limits().begun().ask("a", 1));
      assertThat(run.pass(Limits.DRAIN_MILLIS - 1).events()).isEmpty();
      run.pass(1);
      assertThat(run.events())
          .containsExactly(
              new Event.LeaseEnded(lease(1, 1), LeaseEndReason.CANCELLED, "the run drains"),
              new Event.SavingStarted(INTERRUPTED));
      assertThat(run.effects())
          .containsExactly(
              new Effect.Cancel(lease(1, 1), worker("a")),
              new Effect.SaveCheckpoint(0, run.state(), true));
      assertThat(run.waiting()).containsExactly(1L);
      assertThat(run.state().group(new GroupId(1)).attempts()).isZero();
      assertThat(run.state().ledger().cancelled()).isEqualTo(1);
    }

    @Test
    void stepTrained_whileDraining_savesTheNewWeights() {
      Rehearsal run = drained(new Limits().begun().ask("a", 2).score(1, 0).score(2, 0));
      assertThat(run.pass(10 * Limits.DRAIN_MILLIS).effects(Effect.SaveCheckpoint.class)).isEmpty();
      assertThat(run.trained().effects()).endsWith(new Effect.SaveCheckpoint(1, run.state(), true));
    }
  }

  @Nested
  class Saving {
    private static Rehearsal saving() {
      return new Limits()
          .begun()
          .ask("a", 2)
          .score(1, 0)
          .tell(new Input.DrainRequested())
          .pass(Limits.DRAIN_MILLIS);
    }

    @Test
    void checkpointSaved_theLast_endsTheRun() {
      Rehearsal run = saving().tell(new Input.CheckpointSaved(0, true));
      assertThat(run.events())
          .containsExactly(new Event.CheckpointSaved(0), new Event.RunEnded(INTERRUPTED));
      assertThat(run.effects()).containsExactly(new Effect.Stop(INTERRUPTED));
    }

    @Test
    void checkpointSaved_anEarlierOne_goesOnSaving() {
      Rehearsal run = saving().tell(new Input.CheckpointSaved(0, false));
      assertThat(run.state().phase()).isEqualTo(new Phase.Saving(INTERRUPTED));
    }

    @Test
    void anything_whileSaving_startsNothing() {
      Rehearsal run = saving();
      assertThat(run.ask("a", 20).effects()).isEmpty();
      assertThat(run.tell(new Input.DrainRequested()).events()).isEmpty();
      assertThat(run.tell(new Input.Tick()).events()).isEmpty();
      run.tell(new Input.GroupScored(summary(lease(2, 2), 0, 0, 1)));
      assertThat(run.events())
          .containsExactly(new Event.AnswerRefused(lease(2, 2), "its lease has ended"));
    }

    @Test
    void broken_whileSaving_endsAsFailed() {
      Rehearsal run = saving().tell(new Input.Broken("disk full"));
      assertThat(run.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Failed("disk full")));
    }
  }

  @Nested
  class Ended {
    @Test
    void anything_afterTheEnd_changesNothing() {
      Rehearsal run = new Limits().begun().ask("a", 2).tell(new Input.Broken("over"));
      for (Input input :
          List.of(
              new Input.Begin(),
              new Input.DemandRaised(worker("a"), 50),
              new Input.GroupScored(summary(lease(1, 1), 0, 0, 1)),
              new Input.GroupFailed(lease(2, 2), new LeaseFailure.OfPrompt("late")),
              new Input.WorkerLost(worker("a")),
              new Input.CheckpointSaved(0, true),
              new Input.Broken("again"),
              new Input.DrainRequested(),
              new Input.Tick())) {
        run.tell(input);
        assertThat(run.events()).as("%s", input).isEmpty();
        assertThat(run.effects()).as("%s", input).isEmpty();
      }
    }
  }

  @Nested
  class Resuming {
    private static RunState checkpoint() {
      return new Limits().begun().ask("a", 4).score(1, 0).fail(2).ask("a", 5).state();
    }

    @Test
    void resume_checkpointWithLeases_voidsThemAndKeepsTheRest() {
      RunState checkpoint = checkpoint();
      Rehearsal run = new Limits().starting().resume(checkpoint, 40);
      RunState state = run.state();
      assertThat(run.events()).containsExactly(new Event.RunResumed(state));
      assertThat(run.effects()).containsExactly(new Effect.Publish(WeightVersion.BASE));
      assertThat(state.phase()).isEqualTo(new Phase.Running());
      assertThat(state.workers()).isEmpty();
      assertThat(state.lastFence()).isEqualTo(1_000_000_000);
      assertThat(state.cursor()).isEqualTo(checkpoint.cursor());
      assertThat(run.buffered()).containsExactly(1L);
      assertThat(run.waiting()).containsExactly(2L, 3L, 4L);
      assertThat(state.ledger().cancelled()).isEqualTo(3);
      assertThat(state.group(new GroupId(2)).attempts()).isEqualTo(1);
      assertThat(run.ask("b", 1).effects(Effect.Grant.class))
          .extracting(Effect.Grant::lease)
          .containsExactly(lease(2, 1_000_000_001));
    }

    @Test
    void resume_fencesOfFormerProcesses_areSteppedOver() {
      RunState checkpoint = checkpoint();
      Limits limits = new Limits();
      assertThat(limits.starting().resume(checkpoint, 2).state().lastFence())
          .isEqualTo(1_000_000_000);
      assertThat(limits.starting().resume(checkpoint, 1_000_000_000).state().lastFence())
          .isEqualTo(2_000_000_000);
      assertThat(limits.starting().resume(checkpoint, 2_000_000_007).state().lastFence())
          .isEqualTo(3_000_000_000L);
    }

    @Test
    void resume_grantsLostWithThePowerOfTheHost_areNotRepeated() {
      RunState checkpoint = checkpoint();
      Rehearsal lost = new Limits().starting().resume(checkpoint, 5).ask("b", 3);
      long synced = 1_000_000_000; // The record of the resume is fsynced, the grants were not.
      Rehearsal next = new Limits().starting().resume(checkpoint, synced).ask("c", 3);
      assertThat(next.effects(Effect.Grant.class))
          .extracting(grant -> grant.lease().fence())
          .hasSize(3)
          .doesNotContainAnyElementsOf(
              lost.effects(Effect.Grant.class).stream()
                  .map(grant -> grant.lease().fence())
                  .toList());
    }

    @Test
    void resume_fullBatchInTheBuffer_trainsAtOnce() {
      Rehearsal run = new Limits().begun().ask("a", 2).tell(new Input.DrainRequested());
      RunState saved = run.score(1, 0).score(2, 0).state();
      assertThat(new Limits().starting().resume(saved, 2).training()).containsExactly(1L, 2L);
    }

    @Test
    void resume_answerOfTheFormerProcess_isRefused() {
      Rehearsal run = new Limits().starting().resume(checkpoint(), 5).ask("b", 3);
      run.tell(new Input.GroupScored(summary(lease(3, 3), 0, 0, 1)));
      assertThat(run.events())
          .containsExactly(new Event.AnswerRefused(lease(3, 3), "its lease has ended"));
    }

    @Test
    void startOver_journalOfAnotherProcess_keepsNothingButTheFence() {
      Rehearsal run = new Limits().starting().startOver(9);
      assertThat(run.state().lastFence()).isEqualTo(1_000_000_000);
      assertThat(run.effects()).isEmpty();
      assertThat(run.state().groups()).isEqualTo(Map.of());
      run.tell(new Input.Begin()).ask("a", 1);
      assertThat(run.held(1)).isEqualTo(lease(1, 1_000_000_001));
    }
  }
}
