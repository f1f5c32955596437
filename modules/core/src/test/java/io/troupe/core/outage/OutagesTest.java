package io.troupe.core.outage;

import static io.troupe.core.run.Rehearsal.summary;
import static io.troupe.core.run.Rehearsal.worker;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.Limits;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.Phase;
import io.troupe.core.run.Rehearsal;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.group.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Breakers, what a run remembers of them, and what it grants behind them. */
class OutagesTest {
  private static final OutageLimits LIMITS = new OutageLimits(10, 80, 1_000);

  @Nested
  class OfABreaker {
    /** Opens at each time at which it may, as a place that always fails makes it do. */
    private static List<Long> pauses(CircuitBreaker breaker, int openings) {
      List<Long> pauses = new ArrayList<>();
      CircuitBreaker next = breaker;
      long now = 100;
      for (int i = 0; i < openings; i++) {
        assertThat(next.mayOpen(now)).isTrue();
        long pause = next.nextPause(now, LIMITS);
        next = next.failed().opened(now, now + pause);
        pauses.add(pause);
        now += pause;
      }
      return pauses;
    }

    @Test
    void opened_againAndAgain_doublesItsPauseUpToTheLongest() {
      assertThat(pauses(CircuitBreaker.CLOSED, 6)).containsExactly(10L, 20L, 40L, 80L, 80L, 80L);
    }

    @Test
    void open_duringItsPause_neitherProbesNorOpensAgain() {
      CircuitBreaker open = CircuitBreaker.CLOSED.failed().opened(100, 110);
      assertThat(open).isEqualTo(new CircuitBreaker(1, true, 10, 110));
      assertThat(open.probes(109)).isFalse();
      assertThat(open.mayOpen(109)).isFalse();
      assertThat(open.probes(110)).isTrue();
      assertThat(open.mayOpen(110)).isTrue();
    }

    @Test
    void closed_neverProbes() {
      assertThat(CircuitBreaker.CLOSED.probes(Long.MAX_VALUE)).isFalse();
      assertThat(CircuitBreaker.CLOSED.opened(100, 110).closed().probes(200)).isFalse();
    }

    @Test
    void closed_afterASuccess_forgetsItsFailuresAndKeepsItsPauseForAWhile() {
      CircuitBreaker closed =
          CircuitBreaker.CLOSED.failed().failed().failed().opened(100, 140).closed();
      assertThat(closed).isEqualTo(new CircuitBreaker(0, false, 40, 140));
      assertThat(closed.nextPause(140 + 79, LIMITS)).as("it comes and goes").isEqualTo(80);
      assertThat(closed.nextPause(140 + 80, LIMITS)).as("that was another outage").isEqualTo(10);
    }

    @Test
    void worked_whileOpen_countsFailuresAgainAndStaysOpen() {
      assertThat(CircuitBreaker.CLOSED.failed().opened(100, 110).worked())
          .isEqualTo(new CircuitBreaker(0, true, 10, 110));
    }
  }

  @Nested
  class OfPlaces {
    @Test
    void place_unknown_isClosed() {
      assertThat(Outages.NONE.place("a")).isSameAs(CircuitBreaker.CLOSED);
      assertThat(Outages.NONE.worked(new WorkerId("a"))).isSameAs(Outages.NONE);
    }

    @Test
    void worked_placeThatNeverOpened_isForgotten() {
      assertThat(Outages.NONE.failed("a").failed("b").worked(new WorkerId("a")).places().keySet())
          .isEqualTo(Set.of("b"));
    }

    @Test
    void failingSince_severalOpenings_isTheFirstUntilSomethingSucceeds() {
      Outages failing =
          Outages.NONE.opened("a", "no route", 100, 110).verifiersOpened("no image", 150, 160);
      assertThat(failing.failingSince()).isEqualTo(100);
      assertThat(failing.lastReason()).isEqualTo("no image");
      assertThat(failing.closed("a").verifiersClosed().failingSince())
          .as("who draws and judges has not yet brought a group")
          .isEqualTo(100);
      Outages succeeded = failing.succeeded();
      assertThat(succeeded.failingSince()).isEqualTo(Outages.NOT_FAILING);
      assertThat(succeeded.verifiers().open()).isTrue();
      assertThat(succeeded.opened("a", "again", 300, 310).failingSince()).isEqualTo(300);
    }

    @Test
    void failed_atMorePlacesThanAreRemembered_forgetsTheOneOpenLongestAgo() {
      Outages outages = Outages.NONE;
      for (int i = 0; i <= 1_000; i++) {
        outages = outages.opened("p" + i, "no route", 100, i == 7 ? 105 : 110 + i);
      }
      assertThat(outages.places()).hasSize(1_000).doesNotContainKey("p7");
    }
  }

  @Nested
  class OfARun {
    /** Worker a has failed three groups in a row and is suspended; it asks for many more. */
    private static Rehearsal suspended() {
      Rehearsal run = new Limits().begun().ask("a", 4);
      run.failEngine(1).failEngine(2).failEngine(3);
      assertThat(run.events())
          .contains(
              new Event.WorkerSuspended(worker("a"), 3, "out of order", run.now(), run.now() + 10));
      run.failEngine(4);
      return run.ask("a", 40);
    }

    @Test
    void workRequested_suspended_getsOneGroupAPauseAndNoMore() {
      Rehearsal run = suspended();
      assertThat(run.granted()).isEmpty();
      for (long pause : List.of(10L, 20L, 40L, 80L, 80L)) {
        assertThat(run.pass(pause - 1).granted()).as("before %d ms", pause).isEmpty();
        assertThat(run.pass(1).granted()).as("after %d ms", pause).hasSize(1);
        assertThat(run.ask("a", 100 + run.now()).granted()).as("while it is probed").isEmpty();
        run.failEngine(run.leased().getFirst());
        assertThat(run.granted()).isEmpty();
      }
      assertThat(run.state().ledger().failed()).isZero();
      assertThat(run.state().groups().values())
          .as("only the first failure came after none")
          .extracting(Group::outages)
          .containsOnlyOnce(1);
    }

    @Test
    void groupSampled_probe_resumesTheWorkerAndGrantsWhatItAskedFor() {
      Rehearsal run = suspended().pass(10);
      LeaseId probe = run.held(run.leased().getFirst());
      run.tell(new Input.GroupSampled(probe));
      assertThat(run.events()).contains(new Event.WorkerResumed(worker("a")));
      assertThat(run.granted()).hasSize(3);
      assertThat(run.state().outages().place("a").open()).isFalse();
    }

    @Test
    void grant_oneWorkerSuspended_othersGetItsGroups() {
      Rehearsal run = suspended().ask("b", 4);
      assertThat(run.granted()).containsExactly(1L, 2L, 3L, 4L);
      assertThat(run.effects(Effect.Grant.class))
          .extracting(Effect.Grant::worker)
          .containsOnly(worker("b"));
    }

    @Test
    void grant_groupDrawnBefore_tellsHowOften() {
      Rehearsal run = suspended().ask("b", 4);
      assertThat(run.effects(Effect.Grant.class)).extracting(Effect.Grant::draws).containsOnly(1);
    }

    @Test
    void verifierAway_leaseThatIsHeld_stopsGrantsUntilOneIsJudged() {
      Rehearsal run = new Limits().begun().ask("a", 2);
      run.tell(new Input.GroupSampled(run.held(1)));
      run.tell(new Input.VerifierAway(run.held(1), "no image"));
      assertThat(run.events())
          .containsExactly(new Event.VerificationSuspended("no image", run.now(), run.now() + 10));
      assertThat(run.ask("a", 9).granted()).isEmpty();
      assertThat(run.pass(50).granted()).as("what is under lease is the probe").isEmpty();
      run.tell(new Input.GroupScored(summary(run.held(1), 0, 0, 1)));
      assertThat(run.events()).contains(new Event.VerificationResumed());
      assertThat(run.granted()).hasSize(2);
    }

    @Test
    void verifierAway_nothingUnderLease_probesWithOneGroupAPauseAndChargesNone() {
      Rehearsal run = new Limits().begun().ask("a", 1);
      LeaseId first = run.held(1);
      run.tell(new Input.VerifierAway(first, "no image"));
      run.tell(new Input.GroupFailed(first, new LeaseFailure.OfVerifier("no image")));
      assertThat(run.state().ledger().outages()).isEqualTo(1);
      assertThat(run.ask("a", 20).granted()).isEmpty();
      assertThat(run.pass(9).granted()).isEmpty();
      assertThat(run.pass(1).granted()).containsExactly(1L);
      assertThat(run.state().group(new GroupId(1)).attemptsUsed()).isZero();
      assertThat(run.state().group(new GroupId(1)).draws()).isEqualTo(1);
    }

    @Test
    void tick_nothingSucceedsForTheTimeout_savesAndFailsWithTheLastReason() {
      Rehearsal run = suspended();
      long since = run.now();
      while (run.now() < since + 999) {
        run.pass(1);
        run.leased().forEach(run::failEngine);
      }
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
      run.pass(1);
      assertThat(run.state().phase())
          .isEqualTo(
              new Phase.Saving(
                  new RunEnd.Failed(
                      "nothing has succeeded for 1 s (rollout.outage_timeout), the last failure:"
                          + " out of order")));
      assertThat(run.state().ledger().failed()).isZero();
    }

    @Test
    void workersMissing_forTheTimeout_savesAndFails() {
      Rehearsal run = new Limits().begun();
      long since = run.now();
      run.pass(999).tell(new Input.WorkersMissing(since));
      assertThat(run.state().phase()).isEqualTo(new Phase.Running());
      run.pass(1).tell(new Input.WorkersMissing(since));
      assertThat(run.state().phase())
          .isEqualTo(
              new Phase.Saving(
                  new RunEnd.Failed(
                      "no worker has been there for 1 s (rollout.outage_timeout); look at the logs"
                          + " of workers and nodes")));
    }

    @Test
    void workersMissing_whilePaused_isNoEnd() {
      Rehearsal paused = new Limits().begun();
      paused.tell(
          new Input.Ordered(new OperatorCommand.PauseAdmission(), new Attribution("ada", "")));
      paused.pass(10_000).tell(new Input.WorkersMissing(0));
      assertThat(paused.state().phase()).isEqualTo(new Phase.Running());
    }

    @Test
    void resumeAdmission_failedWhilePaused_waitsAsLongAgain() {
      Rehearsal run = suspended().pass(10);
      run.tell(new Input.Ordered(new OperatorCommand.PauseAdmission(), new Attribution("ada", "")));
      run.failEngine(run.pass(10).leased().getFirst());
      assertThat(run.state().outages().failingSince()).isEqualTo(run.now());
      run.pass(10_000);
      assertThat(run.state().phase()).as("paused").isEqualTo(new Phase.Running());
      run.tell(
          new Input.Ordered(new OperatorCommand.ResumeAdmission(), new Attribution("ada", "")));
      assertThat(run.state().phase()).as("resumed").isEqualTo(new Phase.Running());
      assertThat(run.granted()).as("the place is probed").hasSize(1);
    }
  }
}
