package io.troupe.telemetry.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RunFoldTest {
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void fold_randomHistory_countsAsTheCoordinatorsStateDoes(long seed) {
    Rehearsed run = new Rehearsed(seed);
    for (int i = 0; i < 300; i++) {
      run.disturb();
      Ledger ledger = run.state().ledger();
      RunView view = run.fold.view(run.now());
      assertThat(view.accounting())
          .isEqualTo(
              new GroupAccounting(
                  ledger,
                  run.state().waiting().count(),
                  run.state().leases().count(),
                  run.state().buffered().count(),
                  run.state().inTraining().count()));
      assertThat(view.balanced()).isTrue();
      assertThat(run.fold.demand)
          .isEqualTo(run.fold.workers.all().stream().mapToLong(WorkerTimeline::demand).sum());
      assertThat(view.version()).isEqualTo(run.state().version().number());
      assertThat(view.paused()).isEqualTo(run.state().controls().paused());
      for (RunView.Stage stage : view.stages()) {
        assertThat(stage.shares().stream().mapToDouble(RunView.Share::share).sum())
            .as(stage.name())
            .isCloseTo(stage.shares().isEmpty() ? 0 : 1, within(1e-9));
      }
      run.fold.staleness(run.now());
      run.fold.weights(run.now());
      assertThat(run.fold.waits(run.now(), List.of()).root()).isNotBlank();
    }
  }

  /** A map that counts how often somebody looks at all of it. */
  private static final class Walked<K, V> extends TreeMap<K, V> {
    private static final long serialVersionUID = 1L;
    private transient int walks;

    @Override
    public Collection<V> values() {
      walks++;
      return super.values();
    }

    @Override
    public Set<Map.Entry<K, V>> entrySet() {
      walks++;
      return super.entrySet();
    }

    @Override
    public Set<K> keySet() {
      walks++;
      return super.keySet();
    }
  }

  @Test
  void event_manyFormerWorkersAndLiveGroups_looksOnlyAtWhatItConcerns() {
    Walked<Long, GroupTimeline> live = new Walked<>();
    Walked<String, WorkerTimeline> workers = new Walked<>();
    RunFold fold =
        new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10_000, 9, 1), 100, live, workers);
    fold.event(1, new Event.RunStarted());
    for (int i = 1; i <= 20_000; i++) {
      WorkerId worker = new WorkerId("w" + i);
      GroupId group = new GroupId(i);
      LeaseId lease = new LeaseId(group, i);
      fold.event(i, new Event.DemandRaised(worker, 2));
      fold.event(i, new Event.GroupAdmitted(group, i, 0, new PromptCursor(0, i)));
      fold.event(i, new Event.LeaseGranted(lease, worker, WeightVersion.BASE, 99));
      fold.event(i, new Event.LeaseEnded(lease, LeaseEndReason.WORKER_LOST, ""));
      fold.event(i, new Event.WorkerLost(worker));
    }
    fold.event(20_001, new Event.DemandRaised(new WorkerId("present"), 7));
    for (long i = 1; i <= 2; i++) {
      LeaseId lease = new LeaseId(new GroupId(i), 20_000 + i);
      fold.event(
          20_002, new Event.LeaseGranted(lease, new WorkerId("present"), WeightVersion.BASE, 99));
      fold.event(20_003, new Event.LeaseSampled(lease, 80_000));
      fold.event(
          20_004,
          new Event.GroupBuffered(
              new GroupSummary(
                  lease, List.of(1.0), List.of(TokenVersions.uniform(WeightVersion.BASE, 3)))));
    }
    fold.event(20_005, new Event.StepStarted(1, List.of(new GroupId(1), new GroupId(2))));
    fold.event(20_006, new Event.StepTrained(1));

    assertThat(live.walks).isZero();
    assertThat(workers.walks).isZero();
    assertThat(live).hasSize(19_998);
    assertThat(workers).hasSize(WorkerTimelines.MAX_FORMER + 1).containsKeys("present", "w20000");
    assertThat(fold.demand).isEqualTo(5);
    assertThat(fold.count("waiting")).isEqualTo(19_998);
  }

  @Test
  void worker_forgottenAndNamedAgain_isNotThereAgainUnlessItAsks() {
    RunFold fold = new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10, 9, 1), 100);
    fold.event(1, new Event.RunStarted());
    for (int i = 0; i <= WorkerTimelines.MAX_FORMER; i++) {
      fold.event(1, new Event.DemandRaised(new WorkerId("w" + i), 1));
      fold.event(1, new Event.WorkerLost(new WorkerId("w" + i)));
    }
    fold.event(2, new Event.WorkerLost(new WorkerId("w0")));
    assertThat(fold.workers.known("w0")).isEmpty();
    fold.event(3, new Event.DemandRaised(new WorkerId("w0"), 4));
    assertThat(fold.workers.known("w0")).isPresent();
    assertThat(fold.demand).isEqualTo(4);
  }

  private static Rehearsed drawing() {
    return new Rehearsed(1).ask("a", 3);
  }

  @Test
  void waits_groupsAreBeingDrawn_namesTheOldestAndItsWorker() {
    Rehearsed run = drawing().answer().pass(2_500);
    assertThat(run.fold.waits(run.now(), List.of()).root())
        .isEqualTo(
            "The trainer has 1 of 3 groups and waits for rollout: 2 are being sampled, the oldest,"
                + " g2, by a for 2.5 s.");
  }

  @Test
  void worker_retired_isThereUntilItsLastGroupIsAnswered() {
    Rehearsed run = new Rehearsed(1).ask("a", 2).tell(new Input.WorkerRetired(new WorkerId("a")));
    assertThat(worker(run).present()).isTrue();
    assertThat(worker(run).demand()).isZero();
    run.answer().answer();
    assertThat(worker(run).present()).isFalse();
  }

  @Test
  void node_skippedAndCaughtUp_isTwoLinesOfTheStoryAndTwoMarks() {
    Rehearsed run =
        new Rehearsed(1)
            .tell(new Input.NodeSkipped("n2", new WeightVersion(7), "it was slow"))
            .tell(new Input.NodeCaughtUp("n2", new WeightVersion(9)));
    assertThat(run.fold.marks())
        .extracting(RunView.Mark::text)
        .endsWith("n2 is behind, v7", "n2 caught up, v9");
    assertThat(run.fold.events(0, 0, 100))
        .extracting(EventText::text)
        .contains(
            "node n2 is behind with weights, v7: it was slow",
            "node n2 holds the newest weights again, v9");
  }

  private static RunView.WorkerRow worker(Rehearsed run) {
    return run.fold.weights(run.now()).workers().getFirst();
  }

  @Test
  void waits_beforeTheFirstEvent_beginNow() {
    RunFold fold = new RunFold(new RunViewSettings("r", 2, 1, 1, "mask", 10, 9, 1), 100);
    assertThat(fold.waits(5_000, List.of()).waits())
        .containsExactly(
            new RunView.Wait("run", "trainer", 5_000, "the policy is being made ready"));
  }

  @Test
  void waits_paused_namesTheOperator() {
    Rehearsed run = drawing().order(new OperatorCommand.PauseAdmission()).pass(9_000);
    assertThat(run.fold.waits(run.now(), List.of()).root())
        .isEqualTo("Everything will come to wait for ada, who paused admission 9.0 s ago.");
    assertThat(run.fold.view(run.now()).bottleneck())
        .isEqualTo("Admission is paused by ada for 9.0 s; resume it to continue.");
  }

  @Test
  void waits_boundHoldsWorkersBack_pointsAtTheTrainer() {
    Rehearsed run = drawing().answer().answer().answer().ask("a", 99);
    while (run.state().leases().findAny().isPresent()) {
      run.answer();
    }
    assertThat(run.fold.waits(run.now(), List.of()).waits())
        .extracting(RunView.Wait::who, RunView.Wait::on)
        .contains(tuple("a", "admission"), tuple("admission", "trainer"));
  }

  @Test
  void waits_turnsHeldByTools_namesTheLongestAndShowsTen() {
    Rehearsed run = drawing().pass(9_000);
    long now = run.now();
    List<RunView.Wait> held = new ArrayList<>();
    for (int i = 1; i <= 12; i++) {
      held.add(new RunView.Wait("g1 episode " + i, "tool t" + i, now - 500L * i, ""));
    }
    RunView.Waits waits = run.fold.waits(now, held);
    assertThat(waits.root())
        .endsWith(
            " Turns wait longest for tool t12 for 6.0 s, tool t11 for 5.5 s, tool t10 for 5.0 s.");
    assertThat(waits.waits())
        .filteredOn(wait -> wait.on().startsWith("tool t"))
        .hasSize(10)
        .first()
        .isEqualTo(held.getLast());
  }

  @Test
  void view_trainerComputesMost_saysSo() {
    Rehearsed run = drawing().answer().answer().answer().pass(8_000).trained();
    assertThat(run.fold.view(run.now()).bottleneck())
        .isEqualTo("The trainer: it computed 100 % of the last minute.");
  }

  @Test
  void staleness_otherBounds_tellsWhatTheyWouldHaveCost() {
    Rehearsed run = drawing().answer().answer().answer().ask("a", 6).trained();
    run.answer().answer().answer().trained();
    RunView.Staleness staleness = run.fold.staleness(run.now());
    assertThat(staleness.trained()).containsExactly(12L, 12L);
    assertThat(staleness.whatIf().get(0)).isEqualTo(new RunView.WhatIf(0, 3, 0.5, 0.5));
    assertThat(staleness.whatIf().get(1)).isEqualTo(new RunView.WhatIf(1, 0, 0, 0));
  }

  @Test
  void groups_queries_findThem() {
    Rehearsed run = drawing().answer().order(new OperatorCommand.RequeueGroup(new GroupId(2)));
    assertThat(run.fold.groups(new GroupQuery("troubled", "newest", 10)))
        .extracting(GroupRow::group, GroupRow::trouble)
        .containsExactly(tuple(2L, "cancelled: ordered by ada"));
    assertThat(run.fold.groups(new GroupQuery("buffered", "newest", 10)))
        .extracting(GroupRow::reward)
        .containsExactly(0.5);
    assertThat(run.fold.eventsOf(2))
        .extracting(EventText::type)
        .contains("LeaseGranted", "LeaseEnded");
  }

  @Test
  void events_afterANumber_areThoseThatFollowInOrder() {
    Rehearsed run = drawing();
    long before = run.fold.sequence();
    run.answer();
    assertThat(run.fold.events(before, 2, 100))
        .extracting(EventText::type)
        .containsExactly("LeaseSampled", "GroupBuffered");
    assertThat(run.fold.events(before, 0, 100)).isEmpty();
  }

  @Test
  void shares_overAWindow_forgetWhatIsOlder() {
    StateTimeShares clock = new StateTimeShares(2, 10_000, 0);
    for (int second = 1; second <= 20; second++) {
      clock.to(second <= 10 ? 0 : 1, second * 1_000L);
    }
    assertThat(clock.shares(20_000)).containsExactly(new double[] {0.1, 0.9}, within(1e-9));
  }
}
