package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.completion.Completion;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.reward.Verdict;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.runtime.prompt.Toys;
import io.troupe.verifiers.pool.VerifierService;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run whose engines or verifiers are out of order when it begins, and heal: every group of it is
 * accounted for once, no prompt is given up, and little is granted meanwhile.
 */
class RunOutageTest {
  private static final String FAULT = "a fault of the test";
  private static final int STEPS = 4;
  private static final OutageLimits PAUSES = new OutageLimits(100, 400, 600_000);

  /** The leases that the first step allows: (eta + v + 1) B. */
  private static final int FIRST_GRANTS = 2 * Toys.GROUPS_PER_STEP;

  private final ActorTestKit actors = Toys.actors();
  private final SmallRun run;
  private final List<Event> events = new CopyOnWriteArrayList<>();
  private volatile boolean healed;

  RunOutageTest(@TempDir Path folder) throws Exception {
    this.run = new SmallRun(folder);
  }

  @AfterEach
  void stop() throws Exception {
    actors.shutdownTestKit();
    run.close();
  }

  /** Runs to the end; what is out of order heals at the first event that does it. */
  private RunState completed(EngineRegistry room, Predicate<Event> heals) throws Exception {
    run.onEvent =
        event -> {
          events.add(event);
          healed |= heals.test(event);
        };
    run.start(actors, room, Toys.withOutages(Toys.settings(STEPS, 30), PAUSES));
    SmallRun.Ended ended = run.awaitEnd();
    assertThat(ended.end()).isEqualTo(new RunEnd.Completed());
    return ended.state();
  }

  private void requireAccounts(RunState state) {
    assertThat(state.balanced()).isTrue();
    assertThat(state.ledger().failed()).as("prompts given up").isZero();
    assertThat(state.ledger().failures()).as("leases that speak against their prompt").isZero();
    assertThat(state.ledger().trained()).isEqualTo((long) STEPS * Toys.GROUPS_PER_STEP);
    Audit audit = new Audit();
    audit.record(1, List.copyOf(events));
    AuditReport report = audit.report();
    assertThat(report.violations()).isEmpty();
    assertThat(report.version()).isEqualTo(STEPS);
  }

  private static EngineRegistry roomOf(Supplier<SamplingEngine> samplers) {
    return new EngineRegistry(Toys.policy(), samplers, _ -> {});
  }

  private <T extends Event> List<T> events(Class<T> kind) {
    return events.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private List<Event.LeaseEnded> ended(LeaseEndReason reason) {
    return events(Event.LeaseEnded.class).stream()
        .filter(event -> event.reason() == reason)
        .toList();
  }

  /** Leases granted before the first event of a kind. */
  private int grantsBefore(Class<? extends Event> kind) {
    return Math.toIntExact(
        events.stream()
            .takeWhile(event -> !kind.isInstance(event))
            .filter(Event.LeaseGranted.class::isInstance)
            .count());
  }

  @Test
  void verifiers_awayForTwoRounds_keepWhatWasDrawnAndJudgeItLater() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    VerifierService sound = run.verifiers;
    run.verifiers =
        (VerifierService)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {VerifierService.class},
                (_, method, arguments) -> {
                  if (method.getName().equals("verify") && !healed) {
                    asked.incrementAndGet();
                    return CompletableFuture.completedFuture(
                        new Verdict.Unverifiable(Verdict.Cause.AWAY, FAULT));
                  }
                  return method.invoke(sound, arguments);
                });
    RunState state;
    try (EngineRegistry room = Toys.room()) {
      AtomicInteger suspensions = new AtomicInteger();
      state =
          completed(
              room,
              event ->
                  event instanceof Event.VerificationSuspended(String reason, long _, long _)
                      && reason.equals(FAULT)
                      && suspensions.incrementAndGet() == 2);
    }
    requireAccounts(state);
    assertThat(grantsBefore(Event.VerificationResumed.class)).isEqualTo(FIRST_GRANTS);
    assertThat(asked).hasValueBetween(2, 4 * FIRST_GRANTS * Toys.COMPLETIONS);
    assertThat(events(Event.VerificationResumed.class)).hasSize(1);
    assertThat(events(Event.LeaseEnded.class)).as("all were judged under their leases").isEmpty();
    assertThat(state.outages().verifiers().open()).isFalse();
    assertThat(run.notes).isEmpty();
  }

  @Test
  void engines_failForAWhile_areProbedUntilTheyDraw() throws Exception {
    RunState state;
    AtomicInteger suspensions = new AtomicInteger();
    AtomicInteger failures = new AtomicInteger();
    try (EngineRegistry room = roomOf(Failing::new)) {
      state =
          completed(
              room,
              event ->
                  (event instanceof Event.WorkerSuspended && suspensions.incrementAndGet() == 4)
                      || (event instanceof Event.LeaseEnded && failures.incrementAndGet() == 30));
    }
    requireAccounts(state);
    assertThat(ended(LeaseEndReason.ENGINE_FAILED))
        .hasSizeBetween(6, 12)
        .extracting(Event.LeaseEnded::detail)
        .containsOnly(FAULT);
    assertThat(grantsBefore(Event.WorkerResumed.class)).isLessThanOrEqualTo(14);
    assertThat(events(Event.WorkerResumed.class))
        .as("the run may be complete before the second place has had its probe")
        .hasSizeBetween(1, Toys.WORKERS)
        .extracting(resumed -> resumed.worker().place())
        .doesNotHaveDuplicates();
    assertThat(state.ledger().outages()).isEqualTo(ended(LeaseEndReason.ENGINE_FAILED).size());
    assertThat(run.notes).isEmpty();
  }

  @Test
  void agents_failForEver_endTheRunWithTheirLastOutput() throws Exception {
    String agent = "the agent x.py ended without asking the policy; its last output: no such file";
    run.onEvent = events::add;
    SmallRun.Ended ended;
    try (EngineRegistry room = roomOf(() -> new Failing(new EnvironmentFailedException(agent)))) {
      run.start(
          actors, room, Toys.withOutages(Toys.settings(STEPS, 30), new OutageLimits(20, 40, 400)));
      ended = run.awaitEnd();
    }
    assertThat(ended.end().toString())
        .startsWith("Failed[reason=nothing has succeeded for")
        .contains("(rollout.outage_timeout), the last failure: " + agent);
    assertThat(ended(LeaseEndReason.ENVIRONMENT_FAILED)).isNotEmpty();
    assertThat(ended(LeaseEndReason.ENGINE_FAILED)).isEmpty();
    assertThat(events(Event.WorkerSuspended.class))
        .isNotEmpty()
        .allSatisfy(held -> assertThat(held.reason()).isEqualTo(agent));
    assertThat(ended.state().ledger().failed()).as("prompts given up").isZero();
    assertThat(run.notes).as("workers that were started again").isEmpty();
  }

  /** An engine that fails whatever it is asked, until it heals. */
  private final class Failing extends Sampler {
    private final RuntimeException failure;

    Failing() {
      this(new IllegalStateException(FAULT));
    }

    Failing(RuntimeException failure) {
      this.failure = failure;
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      return healed
          ? super.sample(requests)
          : requests.stream()
              .map(_ -> CompletableFuture.<List<Completion>>failedStage(failure))
              .toList();
    }
  }

  @Test
  void engines_lostAtTheirFirstRequest_areReplaced() throws Exception {
    AtomicInteger made = new AtomicInteger();
    RunState state;
    try (EngineRegistry room =
        roomOf(() -> made.incrementAndGet() <= Toys.WORKERS ? new Lost() : new Sampler())) {
      state = completed(room, _ -> false);
    }
    requireAccounts(state);
    int lost = events(Event.WorkerLost.class).size();
    assertThat(lost).isEqualTo(Toys.WORKERS);
    assertThat(made).hasValue(Toys.WORKERS + lost);
    assertThat(run.notes)
        .hasSize(lost)
        .allSatisfy(
            note ->
                assertThat(note)
                    .startsWith("worker rollout-")
                    .contains("failed and is started again in 1 s:")
                    .endsWith("lost its engine: " + FAULT));
    assertThat(events(Event.WorkerSuspended.class)).as("one loss may be anybody's").isEmpty();
    int ended = ended(LeaseEndReason.WORKER_LOST).size();
    assertThat(ended).isBetween(FIRST_GRANTS, 2 * FIRST_GRANTS);
    assertThat(grantsBefore(Event.LeaseSampled.class)).isBetween(ended + 1, ended + FIRST_GRANTS);
  }

  /** An engine whose server goes away when it is asked, and that never answers. */
  private static final class Lost extends Sampler {
    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      lost.complete(FAULT);
      return silence(requests);
    }
  }
}
