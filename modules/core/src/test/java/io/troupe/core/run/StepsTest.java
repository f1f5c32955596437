package io.troupe.core.run;

import static io.troupe.core.run.Rehearsal.lease;
import static io.troupe.core.run.Rehearsal.mixed;
import static io.troupe.core.run.Rehearsal.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Steps of a running run: when they begin, on what, how they end, and what staleness does. */
class StepsTest {
  private static GroupId group(long number) {
    return new GroupId(number);
  }

  @Nested
  class Beginning {
    @Test
    void groupScored_batchComplete_trainsInOrderOfGroupsNotOfArrival() {
      Rehearsal run = new Limits().begun().ask("a", 2).score(2, 0).score(1, 0);
      assertThat(run.effects())
          .containsExactly(
              new Effect.Train(1, WeightVersion.BASE, List.of(lease(1, 1), lease(2, 2))));
      assertThat(run.events()).contains(new Event.StepStarted(1, List.of(group(1), group(2))));
    }

    @Test
    void groupScored_stepRunning_waitsInTheBuffer() {
      Rehearsal run = new Limits().begun().ask("a", 4).score(1, 0).score(2, 0).score(3, 0);
      run.score(4, 0);
      assertThat(run.effects()).isEmpty();
      assertThat(run.buffered()).containsExactly(3L, 4L);
      assertThat(run.trained().effects(Effect.Train.class))
          .containsExactly(
              new Effect.Train(2, new WeightVersion(1), List.of(lease(3, 3), lease(4, 4))));
    }

    @Test
    void startStep_moreThanABatch_takesTheOldestTokensFirst() {
      Rehearsal run = new Limits().begun().ask("a", 4).score(1, 0).score(2, 0).trained();
      // g5 brings tokens of v1 alone, g3 and g4 of v0: they go first though they come later.
      run.ask("a", 6).score(5, 1);
      run.score(3, 0);
      assertThat(run.training()).containsExactly(3L, 5L);
      Rehearsal three = new Limits().begun().ask("a", 4).score(1, 0).score(2, 0).ask("a", 4);
      three.score(3, 0).score(4, 0).trained().ask("a", 6).score(5, 1).score(6, 1).trained();
      assertThat(three.training()).containsExactly(5L, 6L);
    }

    @Test
    void startStep_lastEpochWithARest_trainsASmallerBatch() {
      Rehearsal run = new Limits().prompts(3).epochs(1).begun().ask("a", 3);
      run.score(1, 0).score(2, 0).score(3, 0);
      assertThat(run.trained().effects(Effect.Train.class))
          .containsExactly(new Effect.Train(2, new WeightVersion(1), List.of(lease(3, 3))));
      run.trained();
      assertThat(run.state().phase()).isEqualTo(new Phase.Saving(new RunEnd.Completed()));
      assertThat(run.state().ledger().trained()).isEqualTo(3);
    }

    @Test
    void startStep_restStillBeingSampled_waitsForIt() {
      Rehearsal run = new Limits().prompts(4).epochs(1).begun().ask("a", 4);
      run.score(1, 0).score(2, 0).score(3, 0).trained();
      assertThat(run.training()).isEmpty();
      assertThat(run.fail(4).training()).isEmpty();
      assertThat(run.waiting()).containsExactly(4L);
    }
  }

  @Nested
  class Ending {
    @Test
    void stepTrained_runningStep_publishesAndForgetsItsTokens() {
      Rehearsal run = new Limits().begun().ask("a", 2).score(1, 0).score(2, 0).trained();
      assertThat(run.events()).containsExactly(new Event.StepTrained(1));
      assertThat(run.effects())
          .containsExactly(
              new Effect.Forget(lease(1, 1)),
              new Effect.Forget(lease(2, 2)),
              new Effect.Publish(new WeightVersion(1)));
      assertThat(run.state().version()).isEqualTo(new WeightVersion(1));
      assertThat(run.state().ledger().trained()).isEqualTo(2);
    }

    @Test
    void stepTrained_anotherStepOrNoneRunning_isIgnored() {
      Rehearsal run = new Limits().begun().ask("a", 2);
      assertThat(run.tell(new Input.StepTrained(1)).events()).isEmpty();
      run.score(1, 0).score(2, 0);
      assertThat(run.tell(new Input.StepTrained(2)).events()).isEmpty();
      assertThat(run.tell(new Input.StepSkipped(2, "nan")).events()).isEmpty();
      run.trained();
      assertThat(run.tell(new Input.StepTrained(1)).events()).isEmpty();
      assertThat(run.tell(new Input.StepSkipped(2, "nan")).events()).isEmpty();
    }

    @Test
    void stepTrained_everySecondStep_evaluatesAndSavesAndAtTheEndOnlyEvaluates() {
      Rehearsal run = new Limits().steps(4).evaluateEvery(2).checkpointEvery(2).begun().ask("a", 9);
      assertThat(step(run)).isEqualTo("");
      assertThat(step(run)).isEqualTo("evaluate v2, save 2");
      assertThat(step(run)).isEqualTo("");
      assertThat(step(run)).isEqualTo("evaluate v4, save last 4");
    }

    @Test
    void stepTrained_lastStepBetweenEvaluations_evaluates() {
      Rehearsal run = new Limits().steps(1).evaluateEvery(2).begun().ask("a", 9);
      assertThat(step(run)).isEqualTo("evaluate v1, save last 1");
    }

    @Test
    void stepTrained_noIntervals_doesNeither() {
      Rehearsal run = new Limits().steps(2).begun().ask("a", 9);
      assertThat(step(run)).isEqualTo("");
    }

    @Test
    void stepSkipped_runningStep_spendsItsGroupsAndKeepsTheVersion() {
      Rehearsal run = new Limits().begun().ask("a", 2).score(1, 0).score(2, 0);
      run.tell(new Input.StepSkipped(1, "the loss is NaN"));
      assertThat(run.events()).containsExactly(new Event.StepSkipped(1, "the loss is NaN"));
      assertThat(run.effects())
          .containsExactly(new Effect.Forget(lease(1, 1)), new Effect.Forget(lease(2, 2)));
      assertThat(run.state().version()).isEqualTo(WeightVersion.BASE);
      assertThat(run.state().ledger().skipped()).isEqualTo(2);
      assertThat(run.state().groups()).isEmpty();
    }

    @Test
    void stepSkipped_threeInARow_endsTheRun() {
      Rehearsal run = new Limits().begun().ask("a", 20);
      skip(run);
      skip(run);
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
      skip(run);
      assertThat(run.effects(Effect.Stop.class)).hasSize(1);
      assertThat(run.state().phase())
          .isInstanceOfSatisfying(
              Phase.Ended.class,
              ended ->
                  assertThat(ended.end().toString())
                      .contains(
                          "3 steps in a row were skipped, the last because not finite",
                          "training.learning_rate"));
    }

    @Test
    void stepTrained_afterSkips_countsThemAnew() {
      Rehearsal run = new Limits().begun().ask("a", 20);
      skip(run);
      skip(run);
      batch(run);
      assertThat(run.trained().state().streaks().skipped()).isZero();
    }

    private static void batch(Rehearsal run) {
      run.leased().stream().limit(2).forEach(group -> run.score(group, version(run)));
    }

    private static long version(Rehearsal run) {
      return run.state().version().number();
    }

    private static void skip(Rehearsal run) {
      batch(run);
      run.tell(new Input.StepSkipped(version(run) + 1, "not finite"));
    }

    private static String step(Rehearsal run) {
      batch(run);
      run.trained();
      return String.join(
          ", ",
          run.effects().stream()
              .flatMap(
                  effect ->
                      switch (effect) {
                        case Effect.Evaluate(long _, WeightVersion version) ->
                            Stream.of("evaluate " + version);
                        case Effect.SaveCheckpoint(long step, RunState _, boolean last) ->
                            Stream.of("save " + (last ? "last " : "") + step);
                        default -> Stream.<String>empty();
                      })
              .toList());
    }
  }

  @Nested
  class Staleness {
    /** g3 lies in the buffer with tokens of v0 to {@code newest}, and the weights move to v2. */
    private static Rehearsal aged(StalePolicy policy, long newest) {
      Rehearsal run = new Limits().stale(policy, 1).begun().ask("a", 4);
      run.score(1, 0).score(2, 0).trained().ask("a", 6);
      LeaseId third = run.held(3);
      // Two younger groups fill the step before g3 arrives.
      run.score(5, 1).score(6, 1);
      run.tell(new Input.GroupScored(mixed(third, 0, newest)));
      return run.trained();
    }

    @Test
    void stepTrained_maskWithAYoungTokenLeft_keepsTheGroup() {
      Rehearsal run = aged(StalePolicy.MASK, 1);
      assertThat(run.buffered()).containsExactly(3L);
    }

    @Test
    void stepTrained_maskWithoutAYoungToken_requeuesTheGroup() {
      Rehearsal run = new Limits().begun().ask("a", 4);
      run.score(1, 0).score(2, 0).trained().ask("a", 6).score(5, 1).score(6, 1).score(3, 0);
      run.trained();
      assertThat(run.events()).contains(new Event.GroupStale(lease(3, 3)));
      assertThat(run.effects()).contains(new Effect.Forget(lease(3, 3)));
      assertThat(run.waiting()).containsExactly(3L);
      assertThat(run.state().ledger().stale()).isEqualTo(1);
      assertThat(run.ask("b", 1).granted()).containsExactly(3L);
    }

    /**
     * Every step looks at all that is buffered. A group that comes between two of them looks at
     * none: the work for it would grow with the groups in flight.
     */
    @Test
    void groupScored_betweenSteps_looksAtNoOtherGroupOfTheBuffer() {
      Coordination coordination = new Coordination(new Limits().groupsPerStep(6).build());
      Rehearsal run = new Rehearsal(coordination).tell(new Input.Begin()).ask("a", 3).score(1, 0);
      LeaseId second = run.held(2);
      // g1 is too stale in this state, which no step leaves behind: only a look would find it.
      RunState later = Rehearsal.at(run.state(), 9);
      Decision scored =
          coordination.decide(later, new Input.GroupScored(summary(second, 9, 0, 1)), run.now());
      assertThat(scored.events())
          .containsExactly(new Event.GroupBuffered(summary(second, 9, 0, 1)));
      Decision late =
          coordination.decide(later, new Input.GroupScored(summary(second, 1, 0, 1)), run.now());
      assertThat(late.events())
          .startsWith(
              new Event.GroupBuffered(summary(second, 1, 0, 1)), new Event.GroupStale(second));
    }

    @Test
    void stepTrained_dropWithOneStaleToken_requeuesTheGroup() {
      Rehearsal run = aged(StalePolicy.DROP, 1);
      assertThat(run.events()).contains(new Event.GroupStale(lease(3, 3)));
      assertThat(run.waiting()).containsExactly(3L, 4L);
    }

    @Test
    void startStep_waitAndAnOlderGroupWouldBeStranded_holdsUntilItArrives() {
      Rehearsal run = new Limits().stale(StalePolicy.WAIT, 1).begun().ask("a", 4);
      run.score(1, 0).score(2, 0).trained().ask("a", 6).score(5, 1).score(6, 1);
      assertThat(run.training())
          .as("g3 and g4 are of v0, and only this step may use them")
          .isEmpty();
      run.score(3, 0);
      assertThat(run.training()).isEmpty();
      run.score(4, 0);
      assertThat(run.training()).containsExactly(3L, 4L);
      assertThat(run.trained().training()).containsExactly(5L, 6L);
    }

    @Test
    void startStep_waitAndTheRestFitsIntoLaterSteps_doesNotHold() {
      Rehearsal run = new Limits().stale(StalePolicy.WAIT, 1).begun().ask("a", 4);
      run.score(1, 0).score(2, 0);
      assertThat(run.training()).containsExactly(1L, 2L);
    }

    @Test
    void startStep_waitAndFirstDeadlineOverbooked_holdsBeforeTheLastStep() {
      // Three groups of v0 are left and two steps may use them, of two groups each: it fits; with
      // eta 0 it would not.
      Rehearsal run = new Limits().stale(StalePolicy.WAIT, 2).maxConcurrent(6).begun().ask("a", 6);
      run.score(1, 0).score(2, 0).trained().ask("a", 8).score(7, 1).score(8, 1);
      // From v1 one more step fits before only v2 may use v0: g3 to g6 are four, the step would
      // leave one step of two for them.
      assertThat(run.training()).isEmpty();
      run.score(3, 0);
      assertThat(run.training()).as("g4 to g6 are three, for one step of two").isEmpty();
      run.score(4, 0);
      assertThat(run.training()).containsExactly(3L, 4L);
    }
  }

  @Nested
  class Uses {
    /** Three groups of v0 under lease, of two uses each: those that fit into three steps. */
    private static Rehearsal twice(StalePolicy policy) {
      Rehearsal run = new Limits().stale(policy, 2).uses(2).begun().ask("a", 6);
      assertThat(run.leased()).containsExactly(1L, 2L, 3L);
      return run.score(1, 0).score(2, 0);
    }

    @Test
    void stepTrained_groupsWithAUseLeft_areInTheNextStepAndForgottenBehindIt() {
      Rehearsal run = twice(StalePolicy.MASK).trained();
      assertThat(run.events())
          .startsWith(new Event.StepTrained(1, List.of(group(1), group(2))))
          .contains(new Event.StepStarted(2, List.of(group(1), group(2))));
      assertThat(run.effects(Effect.Forget.class)).isEmpty();
      run.trained();
      assertThat(run.events()).startsWith(new Event.StepTrained(2));
      assertThat(run.effects(Effect.Forget.class))
          .containsExactly(new Effect.Forget(lease(1, 1)), new Effect.Forget(lease(2, 2)));
      assertThat(run.state().ledger().trained()).isEqualTo(2);
      assertThat(run.state().ledger().reused()).isEqualTo(2);
    }

    @Test
    void startStep_groupThatNoStepTrainedOn_goesBeforeOlderGroupsThatWere() {
      Rehearsal run = twice(StalePolicy.WAIT).score(3, 0).trained();
      assertThat(run.training()).containsExactly(1L, 3L);
      assertThat(run.buffered()).containsExactly(2L);
    }

    @Test
    void stepTrained_keptGroupTooStale_endsAsTrained() {
      Rehearsal run = twice(StalePolicy.DROP).score(3, 0).trained().score(4, 1).trained();
      assertThat(run.training()).containsExactly(2L, 4L);
      run.trained();
      assertThat(run.events())
          .startsWith(
              new Event.StepTrained(3, List.of(group(4))), new Event.GroupSpent(lease(3, 3)));
      assertThat(run.effects(Effect.Forget.class))
          .containsExactly(new Effect.Forget(lease(2, 2)), new Effect.Forget(lease(3, 3)));
      assertThat(run.state().ledger().trained()).isEqualTo(3);
      assertThat(run.state().ledger().reused()).isEqualTo(2);
      assertThat(run.state().ledger().stale()).isZero();
    }

    @Test
    void ordered_aKeptGroup_isNotSampledAgainAndCanBeEnded() {
      Rehearsal run = twice(StalePolicy.MASK).score(3, 0).trained();
      Attribution order = new Attribution("ada", "");
      run.tell(new Input.Ordered(new OperatorCommand.RequeueGroup(group(2)), order));
      assertThat(run.events())
          .containsExactly(
              new Event.OrderRefused(
                  new OperatorCommand.RequeueGroup(group(2)),
                  order,
                  "g2 was trained; cancel it to end it without another use"));
      run.tell(new Input.Ordered(new OperatorCommand.CancelGroup(group(2)), order));
      assertThat(run.events()).contains(new Event.GroupSpent(lease(2, 2)));
      assertThat(run.effects()).contains(new Effect.Forget(lease(2, 2)));
      assertThat(run.state().ledger().trained()).isEqualTo(1);
      assertThat(run.state().ledger().failed()).isZero();
    }

    @Test
    void grant_lastSteps_beginsNoMoreThanTheyCanUse() {
      Rehearsal run = new Limits().stale(StalePolicy.MASK, 2).uses(2).steps(1).begun().ask("a", 6);
      assertThat(run.leased()).as("one use of each in the only step").containsExactly(1L, 2L);
    }

    @Test
    void lockStep_twoUses_samplesOnlyBetweenTheStepsOnABatch() {
      Rehearsal run = new Limits().lockStep().stale(StalePolicy.MASK, 1).uses(2).begun();
      run.ask("a", 8);
      assertThat(run.leased()).containsExactly(1L, 2L);
      run.score(1, 0).score(2, 0);
      assertThat(run.leased()).isEmpty();
      assertThat(run.trained().training()).containsExactly(1L, 2L);
      assertThat(run.leased()).isEmpty();
      assertThat(run.trained().leased()).containsExactly(3L, 4L);
    }
  }
}
