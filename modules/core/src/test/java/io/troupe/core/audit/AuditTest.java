package io.troupe.core.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A sound journal, and the same with one promise broken at a time: two groups of two completions,
 * one step trained, a process that dies, another that continues from the checkpoint.
 */
final class AuditTest {
  private static final WorkerId WORKER = new WorkerId("w");
  private static final Event GRANT_1 = grant(1, 1, 0);
  private static final Event GRANT_2 = grant(2, 2, 0);
  private static final Event BUFFERED_1 = new Event.GroupBuffered(summary(1, 1, 0));
  private static final Event STARTED = new Event.StepStarted(1, List.of(group(1)));
  private static final Event WEIGHED = new Event.LossTokensCounted(1, 4, 0, 0, 1);
  private static final Event TRAINED = new Event.StepTrained(1);
  private static final Event FAILED_2 =
      new Event.LeaseEnded(lease(2, 2), LeaseEndReason.FAILED, "no memory");
  private static final Event GIVEN_UP = new Event.GroupFailed(group(2), "3 attempts failed");
  private static final Event REGRANT_2 = grant(2, 3, 1);

  private static final Event CHOSEN_2 = admit(2, 1, 0, new PromptCursor(0, 3, 2));

  /** Up to the death of the first process; group 2 is under its second lease. */
  private static final List<Event> LIFE =
      List.of(
          new Event.RunStarted(),
          new Event.DemandRaised(WORKER, 4),
          admit(1, 0, 0, new PromptCursor(0, 1)),
          GRANT_1,
          admit(2, 1, 0, new PromptCursor(1, 0)),
          GRANT_2,
          new Event.LeaseSampled(lease(1, 1), 2_000),
          BUFFERED_1,
          STARTED,
          FAILED_2,
          WEIGHED,
          TRAINED,
          new Event.CheckpointSaved(1),
          REGRANT_2);

  @Test
  void record_soundJournalWithAResume_accountsForEverything() {
    List<Event> events = new ArrayList<>(LIFE);
    events.add(new Event.GroupFiltered(summary(2, 3, 1)));
    events.addAll(resumed(checkpoint()));
    events.add(grant(2, 4, 1));
    events.add(new Event.AnswerRefused(lease(2, 3), "its lease has ended"));
    events.add(new Event.NodeSkipped("n2", new WeightVersion(1), "it was slow"));
    events.add(new Event.NodeCaughtUp("n2", new WeightVersion(1)));
    events.add(new Event.RanksWentBack(1, "rank 1 and rank 2 are lost"));

    AuditReport report = audit(events);

    assertThat(report.violations()).isEmpty();
    assertThat(report.processes()).isEqualTo(2);
    assertThat(report.version()).isEqualTo(1);
    assertThat(report.undoneSteps()).isZero();
    assertThat(report.epochs()).isEqualTo(1);
    assertThat(report.pending()).isEqualTo(1);
    assertThat(report.leased()).isEqualTo(1);
    assertThat(report.seen().of(AuditCounter.FILTERED)).isEqualTo(1);
    assertThat(report.stands().of(AuditCounter.FILTERED)).as("the resume undid it").isZero();
    assertThat(report.stands())
        .hasToString(
            "admitted=2 trained=1 filtered=0 skipped=0 failed=0 granted=3 stale=0 expired=0 lost=0"
                + " broken=1 outages=0 cancelled=0 refused=1 reused=0");
    assertThat(report.tokens()).isEqualTo(new AuditReport.Tokens(4, 0, 0, 1));
  }

  @Test
  void record_firstRecordsDropped_accountsForTheSameFromTheirState() {
    List<Event> events = new ArrayList<>(LIFE);
    events.addAll(resumed(checkpoint()));
    events.add(grant(2, 4, 1));
    AuditReport whole = audit(events);

    // Up to the checkpoint that the second process continues from: what it needs is kept.
    for (int dropped = 0; dropped <= LIFE.indexOf(TRAINED) + 1; dropped++) {
      Audit audit = new Audit(dropped, fold(LIFE.subList(0, dropped)));
      for (int i = dropped; i < events.size(); i++) {
        audit.record(i + 1, List.of(events.get(i)));
      }

      AuditReport rest = audit.report();
      assertThat(rest.violations()).as("%d dropped", dropped).isEmpty();
      assertThat(rest.stands()).hasToString(whole.stands().toString());
      assertThat(rest.seen()).hasToString(whole.seen().toString());
      assertThat(rest.records()).isEqualTo(whole.records());
      assertThat(rest.epochs()).isEqualTo(whole.epochs());
      assertThat(rest.pending()).isEqualTo(whole.pending());
    }
  }

  @Test
  void record_brokenAfterDroppedRecords_isStillFound() {
    int dropped = LIFE.indexOf(STARTED);
    Audit audit = new Audit(dropped, fold(LIFE.subList(0, dropped)));
    audit.record(dropped + 1, List.of(new Event.StepStarted(2, List.of(group(1)))));
    audit.record(dropped + 2, List.of(BUFFERED_1));

    assertThat(audit.report().violations())
        .extracting(AuditViolation::rule)
        .contains(AuditRule.VERSIONS, AuditRule.FENCING);
  }

  @Test
  void record_stepWithoutItsCheckpoint_isUndone() {
    List<Event> events = new ArrayList<>(LIFE.subList(0, 12));
    events.addAll(resumed(fold(LIFE.subList(0, 1))));

    AuditReport report = audit(events);

    assertThat(report.violations()).isEmpty();
    assertThat(report.undoneSteps()).isEqualTo(1);
    assertThat(report.stands().of(AuditCounter.ADMITTED)).isZero();
    assertThat(report.seen().of(AuditCounter.TRAINED)).isEqualTo(1);
  }

  @Test
  void record_promptsByDifficulty_mayLeaveSomeOut() {
    assertThat(audit(byDifficulty(LIFE)).violations()).isEmpty();
  }

  @Test
  void record_outagesThatCostNothing_breakNoPromise() {
    List<Event> events =
        with(
            LIFE,
            new Event.WorkerSuspended(WORKER, 3, "no route", 10, 20),
            ended(LeaseEndReason.ENGINE_FAILED, false),
            grant(2, 4, 1),
            new Event.VerificationSuspended("no image", 30, 40),
            new Event.LeaseEnded(lease(2, 4), LeaseEndReason.VERIFIER_AWAY, "no image", false),
            grant(2, 5, 1),
            new Event.WorkerResumed(WORKER),
            new Event.VerificationResumed(),
            admit(3, 2, 1, new PromptCursor(1, 1)),
            grant(3, 6, 1),
            new Event.LeaseEnded(lease(2, 5), LeaseEndReason.FAILED, "too long"),
            GIVEN_UP,
            new Event.LeaseEnded(lease(3, 6), LeaseEndReason.CANCELLED, "ordered by ada", false),
            new Event.OrderTaken(
                new OperatorCommand.CancelGroup(group(3)), new Attribution("ada", "")),
            new Event.GroupFailed(group(3), "cancelled by ada"),
            new Event.SavingStarted(new RunEnd.Completed()),
            new Event.RunEnded(new RunEnd.Completed()));

    AuditReport report = audit(events);

    assertThat(report.violations()).isEmpty();
    assertThat(report.stands().of(AuditCounter.OUTAGES)).isEqualTo(2);
    assertThat(report.stands().of(AuditCounter.FAILED)).isEqualTo(2);
  }

  static Stream<Arguments> brokenJournals() {
    return Stream.of(
        broken(
            "a stale token has weight",
            AuditRule.STALENESS,
            replace(WEIGHED, new Event.LossTokensCounted(1, 4, 0, 2, 1)),
            "step 1 gave weight to a token of staleness 2, and the bound is 1"),
        broken(
            "more tokens have weight than are young",
            AuditRule.STALENESS,
            replace(WEIGHED, new Event.LossTokensCounted(1, 5, 0, 0, 1)),
            "step 1 gave weight to 5 tokens, and only 4"),
        broken(
            "nothing proves a step",
            AuditRule.STALENESS,
            events -> without(events, WEIGHED),
            "step 1 is trained, and no event says which tokens"),
        broken(
            "tokens are missing from a step",
            AuditRule.COUNTS,
            replace(WEIGHED, new Event.LossTokensCounted(1, 3, 0, 0, 1)),
            "step 1 counted 3 tokens, and its groups have 4"),
        broken(
            "an answer is older than its lease allows",
            AuditRule.STALENESS,
            events -> with(events, new Event.GroupBuffered(summary(2, 3, 0))),
            "g2#3 brings tokens of v0, granted at v1"),
        broken(
            "an answer comes from weights that are not made",
            AuditRule.VERSIONS,
            replace(BUFFERED_1, new Event.GroupBuffered(summary(1, 1, 7))),
            "g1#1 brings tokens of v7, of v0"),
        broken(
            "a prompt is admitted twice in an epoch",
            AuditRule.EXACTLY_ONCE,
            replace(LIFE.get(4), admit(2, 0, 0, new PromptCursor(1, 0))),
            "g2: prompt 0 is admitted twice in epoch 0"),
        broken(
            "a prompt by difficulty is admitted twice in an epoch",
            AuditRule.EXACTLY_ONCE,
            events -> replaced(byDifficulty(events), admit(2, 0, 0, new PromptCursor(0, 3, 2))),
            "g2: prompt 0 is admitted twice in epoch 0"),
        broken(
            "a prompt by difficulty is not counted",
            AuditRule.EXACTLY_ONCE,
            events -> replaced(byDifficulty(events), admit(2, 1, 0, new PromptCursor(0, 3, 1))),
            "g2: the prompts chosen by difficulty jump from 1 to 1"),
        broken(
            "the position by difficulty goes back",
            AuditRule.EXACTLY_ONCE,
            events -> replaced(byDifficulty(events), admit(2, 1, 0, new PromptCursor(0, 1, 2))),
            "g2: the data position jumps from 0/1 to 0/1"),
        broken(
            "a prompt is left out of an epoch",
            AuditRule.EXACTLY_ONCE,
            replace(LIFE.get(4), admit(2, 2, 0, new PromptCursor(1, 0))),
            "g2: epoch 0 ends with 2 of 3 prompts admitted"),
        broken(
            "a group is trained twice",
            AuditRule.EXACTLY_ONCE,
            events ->
                with(
                    events,
                    new Event.StepStarted(2, List.of(group(1))),
                    new Event.LossTokensCounted(2, 4, 0, 0, 1),
                    new Event.StepTrained(2)),
            "g1 is trained by step 2, and it has ended"),
        broken(
            "a group is trained that is still under lease",
            AuditRule.EXACTLY_ONCE,
            replace(STARTED, new Event.StepStarted(1, List.of(group(1), group(2)))),
            "g2 is trained by step 1 while it is under lease g2#2 of w"),
        broken(
            "a group that was never admitted fails",
            AuditRule.EXACTLY_ONCE,
            events -> with(events, new Event.GroupFailed(group(9), "3 attempts failed")),
            "g9 fails, and it was never admitted"),
        broken(
            "a late answer counts",
            AuditRule.FENCING,
            events -> with(events, new Event.GroupBuffered(summary(2, 2, 1))),
            "g2#2 is accepted, and its group is under lease g2#3 of w"),
        broken(
            "a fence is used twice",
            AuditRule.FENCING,
            replace(REGRANT_2, grant(2, 2, 1)),
            "g2#2 is granted to w after fence 2"),
        broken(
            "a group has two leases",
            AuditRule.FENCING,
            events -> with(events, grant(2, 4, 1)),
            "g2#4 is granted while it is under lease g2#3 of w"),
        broken(
            "a lost worker keeps its lease",
            AuditRule.FENCING,
            events -> with(events, new Event.WorkerLost(WORKER)),
            "g2#3 is still held by w, which is lost"),
        broken(
            "a version is left out",
            AuditRule.VERSIONS,
            replace(TRAINED, new Event.StepTrained(2)),
            "v2 follows v0"),
        broken(
            "a checkpoint comes from the future",
            AuditRule.VERSIONS,
            replace(LIFE.get(12), new Event.CheckpointSaved(2)),
            "checkpoint 2 is saved at v1"),
        broken(
            "a group disappears",
            AuditRule.RESUME,
            events -> withAll(events, resumed(forgetful(checkpoint()))),
            "it continues from v1 with admitted=2"),
        broken(
            "a run continues from what it never was",
            AuditRule.RESUME,
            events -> withAll(events, resumed(fold(LIFE.subList(0, 8)))),
            "it continues from v0 with admitted=2"),
        broken(
            "a lease is granted after the end",
            AuditRule.PHASES,
            events ->
                with(
                    events,
                    new Event.RunEnded(new RunEnd.Completed()),
                    new Event.LeaseEnded(lease(2, 3), LeaseEndReason.CANCELLED, ""),
                    grant(2, 4, 1)),
            "g2#4 is granted in a run that is ended"),
        broken(
            "a prompt is given up that nothing speaks against",
            AuditRule.OUTAGES,
            events -> with(uncharged(events), ended(LeaseEndReason.CANCELLED, false), GIVEN_UP),
            "g2 is given up, and no failure of it counted"),
        broken(
            "a prompt is given up for failures of infrastructure",
            AuditRule.OUTAGES,
            events ->
                with(
                    uncharged(events),
                    ended(LeaseEndReason.ENGINE_FAILED, false),
                    grant(2, 4, 1),
                    new Event.LeaseEnded(
                        lease(2, 4), LeaseEndReason.VERIFIER_AWAY, "no image", false),
                    GIVEN_UP),
            "g2 is given up, and no failure of it counted"),
        broken(
            "an order about another group excuses it",
            AuditRule.OUTAGES,
            events ->
                with(
                    uncharged(events),
                    ended(LeaseEndReason.CANCELLED, false),
                    new Event.OrderTaken(
                        new OperatorCommand.CancelGroup(group(3)), new Attribution("ada", "")),
                    GIVEN_UP),
            "g2 is given up, and no failure of it counted"),
        broken(
            "a suspended worker gets a second group",
            AuditRule.OUTAGES,
            events ->
                with(
                    events,
                    new Event.WorkerSuspended(WORKER, 3, "no route", 10, 20),
                    admit(3, 2, 1, new PromptCursor(1, 1)),
                    grant(3, 4, 1)),
            "g3#4 is granted to w, which is suspended and has a lease"),
        broken(
            "a second group is granted while no verifier is there",
            AuditRule.OUTAGES,
            events ->
                with(
                    events,
                    new Event.VerificationSuspended("no image", 10, 20),
                    admit(3, 2, 1, new PromptCursor(1, 1)),
                    grant(3, 4, 1)),
            "g3#4 is granted while no verifier is there and others are under lease"),
        broken(
            "a lease counts that no verifier judged",
            AuditRule.OUTAGES,
            events -> with(events, ended(LeaseEndReason.VERIFIER_AWAY, true)),
            "g2#3 ended as verifier_away, which no prompt is to blame for, and counts"),
        broken(
            "a lease counts that an operator ended",
            AuditRule.OUTAGES,
            events -> with(events, ended(LeaseEndReason.CANCELLED, true)),
            "g2#3 ended as cancelled, which no prompt is to blame for, and counts"),
        broken(
            "a lease counts that became too stale",
            AuditRule.OUTAGES,
            events -> with(events, ended(LeaseEndReason.STALE, true)),
            "g2#3 ended as stale, which no prompt is to blame for, and counts"),
        broken(
            "a run is completed that trained nothing",
            AuditRule.OUTAGES,
            events -> with(events.subList(0, 2), new Event.SavingStarted(new RunEnd.Completed())),
            "the run is completed, and no step moved the weights"),
        broken(
            "a run ends as completed that trained nothing",
            AuditRule.OUTAGES,
            events -> with(events.subList(0, 2), new Event.RunEnded(new RunEnd.Completed())),
            "the run is completed, and no step moved the weights"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("brokenJournals")
  void record_brokenPromise_namesIt(
      String name, AuditRule rule, UnaryOperator<List<Event>> mutation, String what) {
    AuditReport report = audit(mutation.apply(LIFE));

    assertThat(report.sound()).isFalse();
    assertThat(report.violations())
        .as(name)
        .anySatisfy(
            violation -> {
              assertThat(violation.rule()).isEqualTo(rule);
              assertThat(violation.what()).startsWith(what);
              assertThat(violation.record()).isPositive();
            });
  }

  private static Arguments broken(
      String name, AuditRule rule, UnaryOperator<List<Event>> mutation, String what) {
    return Arguments.of(name, rule, mutation, what);
  }

  /** Returns the events of a run that passes over a prompt between its two groups. */
  private static List<Event> byDifficulty(List<Event> events) {
    return replace(LIFE.get(2), admit(1, 0, 0, new PromptCursor(0, 1, 1)))
        .andThen(replace(LIFE.get(4), CHOSEN_2))
        .apply(events);
  }

  private static List<Event> replaced(List<Event> events, Event next) {
    return replace(CHOSEN_2, next).apply(events);
  }

  private static UnaryOperator<List<Event>> replace(Event old, Event next) {
    return events -> events.stream().map(event -> event.equals(old) ? next : event).toList();
  }

  private static List<Event> without(List<Event> events, Event left) {
    return events.stream().filter(event -> !event.equals(left)).toList();
  }

  private static List<Event> with(List<Event> events, Event... more) {
    return withAll(events, Arrays.asList(more));
  }

  private static List<Event> withAll(List<Event> events, List<Event> more) {
    return Stream.concat(events.stream(), more.stream()).toList();
  }

  /** One event a record. */
  private static AuditReport audit(List<Event> events) {
    Audit audit = new Audit();
    for (int i = 0; i < events.size(); i++) {
      audit.record(i + 1, List.of(events.get(i)));
    }
    return audit.report();
  }

  private static RunState checkpoint() {
    return fold(LIFE.subList(0, 12));
  }

  private static RunState fold(List<Event> events) {
    RunState state = RunState.INITIAL;
    for (Event event : events) {
      state = state.evolve(event);
    }
    return state;
  }

  private static List<Event> resumed(RunState checkpoint) {
    return List.of(new Event.RunResumed(RunState.INITIAL), new Event.RunResumed(checkpoint));
  }

  private static RunState forgetful(RunState state) {
    return new RunState(
        state.phase(),
        state.version(),
        state.cursor(),
        new TreeMap<>(),
        state.workers(),
        state.lastFence(),
        state.streaks(),
        state.outages(),
        state.ledger(),
        state.passRates(),
        state.controls());
  }

  private static Event admit(long group, int prompt, long epoch, PromptCursor next) {
    return new Event.GroupAdmitted(group(group), prompt, epoch, next);
  }

  /** The last lease of {@link #LIFE} ends without an answer. */
  private static Event ended(LeaseEndReason reason, boolean counts) {
    return new Event.LeaseEnded(lease(2, 3), reason, "", counts);
  }

  /** Returns the same events, but that the failure of g2 costs it nothing. */
  private static List<Event> uncharged(List<Event> events) {
    return replace(
            FAILED_2,
            new Event.LeaseEnded(lease(2, 2), LeaseEndReason.ENGINE_FAILED, "no memory", false))
        .apply(events);
  }

  private static Event grant(long group, long fence, long version) {
    return new Event.LeaseGranted(lease(group, fence), WORKER, new WeightVersion(version), 1_000);
  }

  private static GroupSummary summary(long group, long fence, long version) {
    TokenVersions two = TokenVersions.uniform(new WeightVersion(version), 2);
    return new GroupSummary(lease(group, fence), List.of(0.0, 1.0), List.of(two, two));
  }

  private static LeaseId lease(long group, long fence) {
    return new LeaseId(group(group), fence);
  }

  private static GroupId group(long number) {
    return new GroupId(number);
  }
}
