package io.troupe.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Two processes of a run; the first dies behind its checkpoint of step 1. */
final class RecordedRunTest {
  private static final WorkerId WORKER = new WorkerId("w");

  private final RecordedRun run = new RecordedRun(RunState.INITIAL);

  private void take(Event... events) {
    List.of(events).forEach(run::event);
  }

  private static LeaseId lease(long group) {
    return new LeaseId(new GroupId(group), group);
  }

  private static ProcessFacts facts(String config) {
    return new ProcessFacts(new TreeMap<>(), config);
  }

  private static GroupSummary summary(long group, long version) {
    TokenVersions versions = TokenVersions.uniform(new WeightVersion(version), 2);
    return new GroupSummary(lease(group), List.of(0.0, 1.0), List.of(versions, versions));
  }

  private void admit(long group) {
    take(
        new Event.GroupAdmitted(new GroupId(group), 7, 0, new PromptCursor(0, (int) group)),
        new Event.LeaseGranted(lease(group), WORKER, run.state().version(), 9));
  }

  private void buffer(long group, long version) {
    admit(group);
    take(
        new Event.GroupDigested(lease(group), List.of("a" + group, "b" + group)),
        new Event.GroupBuffered(summary(group, version)));
  }

  private void step(long step, long group) {
    take(
        new Event.StepStarted(step, List.of(new GroupId(group))),
        new Event.WeightsMade(new WeightVersion(step), "made" + step),
        new Event.StepTrained(step));
  }

  private void firstProcess() {
    take(
        new Event.ProcessStarted(facts("one")),
        new Event.WeightsMade(WeightVersion.BASE, "base"),
        new Event.RunStarted());
    buffer(1, 0);
    buffer(2, 0);
    step(1, 1);
  }

  private RecordedItem.Scored scored(long group, long version) {
    return new RecordedItem.Scored(
        new RecordedGroup(
            summary(group, version), 7, 0, 0, WORKER, List.of("a" + group, "b" + group), false));
  }

  @Test
  void event_aRun_givesGroupsAndStepsInOrder() {
    firstProcess();

    assertThat(run.items())
        .containsExactly(
            new RecordedItem.Began(facts("one"), WeightVersion.BASE, "base", false),
            scored(1, 0),
            scored(2, 0),
            new RecordedItem.Trained(1, List.of(lease(1)), "made1"));
  }

  @Test
  void event_resume_leavesOutWhatItUndid() {
    firstProcess();
    RunState checkpoint = run.state();
    buffer(3, 1);
    step(2, 2);
    take(
        new Event.RunResumed(RunState.INITIAL),
        new Event.ProcessStarted(facts("two")),
        new Event.WeightsMade(new WeightVersion(1), "made1"),
        new Event.RunResumed(checkpoint));
    step(2, 2);

    assertThat(run.items().subList(2, run.items().size()))
        .containsExactly(
            scored(2, 0),
            new RecordedItem.Trained(1, List.of(lease(1)), "made1"),
            new RecordedItem.Began(facts("two"), new WeightVersion(1), "made1", true),
            new RecordedItem.Trained(2, List.of(lease(2)), "made2"));
  }

  @Test
  void event_processWithoutCheckpoint_startsOver() {
    firstProcess();
    take(
        new Event.RunResumed(RunState.INITIAL),
        new Event.ProcessStarted(facts("two")),
        new Event.WeightsMade(WeightVersion.BASE, "base"),
        new Event.RunStarted());

    assertThat(run.items())
        .containsExactly(new RecordedItem.Began(facts("two"), WeightVersion.BASE, "base", false));
  }

  @Test
  void event_groupSampledAgain_hasTheDrawsOfItsLease() {
    take(
        new Event.ProcessStarted(facts("one")),
        new Event.WeightsMade(WeightVersion.BASE, "base"),
        new Event.RunStarted());
    buffer(1, 0);
    take(
        new Event.GroupStale(lease(1)),
        new Event.LeaseGranted(new LeaseId(new GroupId(1), 5), WORKER, WeightVersion.BASE, 9),
        new Event.GroupFiltered(
            new GroupSummary(
                new LeaseId(new GroupId(1), 5), List.of(0.0, 0.0), summary(1, 0).versions())));

    assertThat(run.items().getLast())
        .isInstanceOfSatisfying(
            RecordedItem.Scored.class,
            last -> {
              assertThat(last.group().draws()).isEqualTo(1);
              assertThat(last.group().filtered()).isTrue();
              assertThat(last.group().digests()).isEmpty();
            });
  }
}
