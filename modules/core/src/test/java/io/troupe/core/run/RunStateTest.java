package io.troupe.core.run;

import static io.troupe.core.run.Rehearsal.lease;
import static io.troupe.core.run.Rehearsal.summary;
import static io.troupe.core.run.Rehearsal.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RunStateTest {
  private static final GroupId ONE = new GroupId(1);

  private static RunState leased() {
    return RunState.INITIAL
        .evolve(new Event.RunStarted())
        .evolve(new Event.DemandRaised(worker("a"), 3))
        .evolve(new Event.GroupAdmitted(ONE, 4, 0, new PromptCursor(0, 1)))
        .evolve(new Event.LeaseGranted(lease(1, 1), worker("a"), WeightVersion.BASE, 50));
  }

  private static RunState buffered() {
    return leased().evolve(new Event.GroupBuffered(summary(lease(1, 1), 0, 0, 1)));
  }

  private static void refused(RunState state, Event event, String why) {
    assertThatThrownBy(() -> state.evolve(event))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(why);
  }

  @Test
  void evolve_lease_isHeldByItsWorker() {
    RunState state = leased();
    assertThat(state.leases())
        .containsExactly(new Group.Leased(lease(1, 1), worker("a"), WeightVersion.BASE, 50, false));
    assertThat(state.workers().get(worker("a"))).isEqualTo(new Worker(3, 1, 1, true));
    assertThat(state.lease(lease(1, 1))).isPresent();
    assertThat(state.lease(lease(1, 2))).isEmpty();
    assertThat(state.lastFence()).isEqualTo(1);
  }

  @Test
  void evolve_leaseOfAnotherFence_isRefused() {
    refused(
        leased(),
        new Event.LeaseEnded(lease(1, 2), LeaseEndReason.EXPIRED, ""),
        "g1#2 is not under lease");
    refused(
        leased(),
        new Event.GroupBuffered(summary(lease(1, 2), 0, 0, 1)),
        "g1#2 is not under lease");
    refused(
        leased(),
        new Event.GroupFiltered(summary(lease(1, 2), 0, 1, 1)),
        "g1#2 is not under lease");
    refused(leased(), new Event.LeaseSampled(lease(1, 2), 90), "g1#2 is not under lease");
  }

  @Test
  void evolve_unknownGroup_isRefused() {
    refused(RunState.INITIAL, new Event.GroupStale(lease(3, 1)), "g3 is not a live group");
  }

  @Test
  void evolve_stepOnAGroupThatIsNotBuffered_isRefused() {
    refused(leased(), new Event.StepStarted(1, List.of(ONE)), "g1 is not buffered");
  }

  @ParameterizedTest
  @EnumSource(LeaseEndReason.class)
  void evolve_leaseEnded_waitsAgainAndIsCountedOnce(LeaseEndReason reason) {
    RunState state = leased().evolve(new Event.LeaseEnded(lease(1, 1), reason, "why"));
    assertThat(state.waiting()).hasSize(1);
    boolean lost = reason == LeaseEndReason.EXPIRED || reason == LeaseEndReason.WORKER_LOST;
    boolean broken =
        reason == LeaseEndReason.ENGINE_FAILED || reason == LeaseEndReason.ENVIRONMENT_FAILED;
    boolean away = broken || reason == LeaseEndReason.VERIFIER_AWAY;
    assertThat(state.group(ONE).attempts()).isEqualTo(reason == LeaseEndReason.FAILED ? 1 : 0);
    assertThat(state.group(ONE).losses()).isEqualTo(lost ? 1 : 0);
    assertThat(state.group(ONE).outages()).isEqualTo(broken ? 1 : 0);
    assertThat(state.group(ONE).draws()).isEqualTo(reason == LeaseEndReason.CANCELLED ? 0 : 1);
    Ledger ledger = state.ledger();
    assertThat(ledger)
        .isEqualTo(
            new Ledger(
                1,
                1,
                0,
                0,
                0,
                0,
                reason == LeaseEndReason.STALE ? 1 : 0,
                reason == LeaseEndReason.EXPIRED ? 1 : 0,
                reason == LeaseEndReason.WORKER_LOST ? 1 : 0,
                reason == LeaseEndReason.FAILED ? 1 : 0,
                away ? 1 : 0,
                reason == LeaseEndReason.CANCELLED ? 1 : 0,
                0,
                0));
    assertThat(ledger.endedLeases()).isEqualTo(1);
    assertThat(ledger.endedGroups()).isZero();
    assertThat(state.balanced()).isTrue();
  }

  @Test
  void evolve_stepTrained_endsItsGroups() {
    RunState training = buffered().evolve(new Event.StepStarted(1, List.of(ONE)));
    assertThat(training.inTraining().map(Group::id)).containsExactly(ONE);
    assertThat(training.accepted(1)).isEqualTo(1);
    assertThat(training.accepted(3)).isEqualTo(3);
    RunState trained = training.evolve(new Event.StepTrained(1));
    assertThat(trained.groups()).isEmpty();
    assertThat(trained.accepted(1)).isEqualTo(1);
    assertThat(trained.ledger().endedGroups()).isEqualTo(1);
    assertThat(trained.ledger().reused()).isZero();
    assertThat(trained.balanced()).isTrue();
  }

  @Test
  void evolve_groupKeptByAStep_isBufferedAgainAndEndsOnceWithAllItsUses() {
    RunState kept = used(buffered(), 1);
    assertThat(kept.ready().map(Group.Buffered::uses)).containsExactly(1);
    assertThat(kept.accepted(3)).isEqualTo(3);
    assertThat(kept.ledger().trained()).isZero();
    RunState again = used(kept, 2).evolve(new Event.StepStarted(3, List.of(ONE)));

    RunState trained = again.evolve(new Event.StepTrained(3));
    assertThat(trained.groups()).isEmpty();
    assertThat(trained.ledger().trained()).isEqualTo(1);
    assertThat(trained.ledger().reused()).isEqualTo(2);
    assertThat(trained.accepted(3)).isEqualTo(3);
    assertThat(trained.balanced()).isTrue();

    RunState skipped = again.evolve(new Event.StepSkipped(3, "not finite"));
    assertThat(skipped.ledger().skipped()).isZero();
    assertThat(skipped.ledger().trained()).isEqualTo(1);
    assertThat(skipped.ledger().reused()).isEqualTo(1);
    assertThat(skipped.balanced()).isTrue();
  }

  @Test
  void evolve_groupSpent_endsAsTrainedIfAStepHasTrainedOnIt() {
    LeaseId lease = buffered().buffered().findFirst().orElseThrow().lease();
    RunState spent = used(buffered(), 1).evolve(new Event.GroupSpent(lease));
    assertThat(spent.groups()).isEmpty();
    assertThat(spent.ledger().trained()).isEqualTo(1);
    assertThat(spent.ledger().reused()).isZero();
    assertThat(spent.balanced()).isTrue();
    assertThatThrownBy(() -> buffered().evolve(new Event.GroupSpent(lease)))
        .hasMessageContaining("was not kept for another use");
  }

  private static RunState used(RunState state, long step) {
    return state
        .evolve(new Event.StepStarted(step, List.of(ONE)))
        .evolve(new Event.StepTrained(step, List.of(ONE)));
  }

  @Test
  void evolve_resumed_isTheStateOfTheCheckpoint() {
    assertThat(leased().evolve(new Event.RunResumed(buffered()))).isEqualTo(buffered());
  }

  @Test
  void accepted_bufferedGroup_counts() {
    assertThat(leased().accepted(2)).isZero();
    assertThat(buffered().accepted(2)).isEqualTo(2);
  }

  @Test
  void balanced_booksThatDoNotAddUp_tells() {
    RunState state = leased();
    assertThat(state.ledger(state.ledger().grant()).balanced()).isFalse();
    assertThat(state.ledger(state.ledger().admit()).balanced()).isFalse();
    assertThat(state.ledger(state.ledger().refuse()).balanced()).isTrue();
  }

  @Test
  void maps_ofAState_cannotBeWritten() {
    assertThatThrownBy(() -> leased().groups().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> leased().workers().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void ledger_everyKind_standsInItsSums() {
    Ledger ledger = new Ledger(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192);
    assertThat(ledger.endedLeases()).isEqualTo(4 + 8 + 16 + 64 + 128 + 256 + 512 + 1024 + 2048);
    assertThat(ledger.endedGroups()).isEqualTo(4 + 8 + 16 + 32);
    assertThat(ledger.admit().grant().train(3, 5).filter().skip(5).giveUp().refuse())
        .isEqualTo(new Ledger(2, 3, 7, 9, 21, 33, 64, 128, 256, 512, 1024, 2048, 4097, 8194));
  }

  @Test
  void demand_ofAWorker_isWhatItAskedForAndDidNotGet() {
    assertThat(new Worker(5, 2, 0, true).demand()).isEqualTo(3);
    assertThat(new Worker(5, 2, 1, false).demand()).isZero();
    assertThat(new Worker(2, 5, 3, true).demand()).isZero();
  }
}
