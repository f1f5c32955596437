package io.troupe.runtime.rollout;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.SampledWeights;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WorkerStateTest {
  private static final WorkerId ID = new WorkerId("w-1");
  private static final int FIRST = 4;
  private static final GroupSize SIZE = new GroupSize(2, 1, 1, 5);
  private static final PromptPool POOL = Toys.pool();

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void transitions_arbitraryMessages_keepWhatAWorkerPromises(long seed) {
    Peers peers = new Peers(seed);
    for (int i = 0; i < 400 && !peers.failed; i++) {
      peers.disturb();
    }
    peers.settle();
  }

  @Test
  void sampled_afterItsCancellation_isDroppedAndItsPlaceIsFree() {
    Peers peers = Peers.producing(1);
    LeaseId lease = peers.sampling.keySet().iterator().next();
    peers.cancel(lease);
    peers.sampled(lease);
    assertThat(peers.last)
        .containsExactly(
            new WorkerAction.CancelTimer(new WorkerAction.Timer.Ask()),
            new WorkerAction.Report(new Input.DemandRaised(ID, FIRST + 1)));
    assertThat(peers.state.groups()).isEqualTo(WorkerGroups.NONE);
  }

  @Test
  void samplingFailed_againAndAgain_failsTheWorkerWhereAnotherEngineMayHelp() {
    Peers peers = Peers.producing(FIRST);
    Assignment assignment = peers.given.values().iterator().next();
    WorkerAction.Part part = new WorkerAction.Part(assignment, 0, SIZE.part());
    WorkerState state = peers.state;
    for (int i = 1; i < WorkerState.MOST_SAMPLE_FAILURES; i++) {
      state = state.samplingFailed(part, new IllegalStateException("broken"), true).state();
    }
    assertThat(failures(state.samplingFailed(part, new IllegalStateException("last"), false)))
        .isEmpty();
    assertThat(failures(state.samplingFailed(part, new IllegalStateException("last"), true)))
        .containsExactly("w-1 could not sample 8 groups in a row, the last: last");
  }

  @Test
  void samplingFailed_agentsAgainAndAgain_keepsTheWorkerAndItsEngine() {
    Peers peers = Peers.producing(FIRST);
    Assignment assignment = peers.given.values().iterator().next();
    WorkerAction.Part part = new WorkerAction.Part(assignment, 0, SIZE.part());
    WorkerState state = peers.state;
    for (int i = 0; i < 2 * WorkerState.MOST_SAMPLE_FAILURES; i++) {
      WorkerState.Next next =
          state.samplingFailed(part, new EnvironmentFailedException("the agent ended"), true);
      assertThat(failures(next)).isEmpty();
      assertThat(next.actions())
          .contains(
              new WorkerAction.Report(
                  new Input.GroupFailed(
                      assignment.lease(), new LeaseFailure.OfEnvironment("the agent ended"))));
      state = next.state();
    }
  }

  private static List<String> failures(WorkerState.Next next) {
    return next.actions().stream()
        .filter(WorkerAction.Fail.class::isInstance)
        .map(action -> ((WorkerAction.Fail) action).failure().getMessage())
        .toList();
  }

  private static String digest(WeightVersion version) {
    return "digest of " + version;
  }

  private static Episode episode(long version) {
    return Episode.of(
        POOL.tokens(0),
        new Completion(
            new int[] {1},
            new float[] {-1},
            TokenVersions.uniform(new WeightVersion(version), 1),
            FinishReason.LENGTH));
  }

  /**
   * The peers of a worker: coordinator, engine, verifiers, source of weights, trainer and timers.
   * It answers in any order, and asserts after every message.
   */
  private static final class Peers {
    private final Random random;
    private final Map<LeaseId, Assignment> given = new LinkedHashMap<>();
    private final Map<LeaseId, WeightVersion> oldest = new HashMap<>();
    private final Map<LeaseId, WeightVersion> sampling = new LinkedHashMap<>();
    private final Map<LeaseId, WorkerAction.Part> parts = new HashMap<>();
    private final Map<LeaseId, Integer> verifying = new LinkedHashMap<>();
    private final Set<LeaseId> cancelled = new HashSet<>();
    private final Set<LeaseId> delivered = new HashSet<>();
    private final Set<LeaseId> groupsFailed = new HashSet<>();
    private final Set<WorkerAction.Timer> timers = new LinkedHashSet<>();
    private WorkerState state = WorkerState.starting(ID, SIZE, FIRST);
    private List<WorkerAction> last = List.of();
    private Optional<PublishedWeights> fetching = Optional.empty();
    private WeightVersion published = WeightVersion.BASE;
    private WeightVersion loaded = WeightVersion.BASE;
    private long asked;
    private int freed;
    private int fetchFailures;
    private int sampleFailures;
    private boolean draining;
    private boolean failed;

    private Peers(long seed) {
      random = new Random(seed);
      apply(state.engineReady());
    }

    /** Peers of a worker that has the first weights, and is to produce some groups. */
    static Peers producing(int groups) {
      Peers peers = new Peers(1);
      peers.publish();
      peers.fetchEnds(true);
      peers.produce(new WeightVersion(1), groups);
      return peers;
    }

    private void disturb() {
      switch (random.nextInt(40)) {
        case 0, 1 -> publish();
        case 2, 3, 4 -> pick(given.keySet()).ifPresent(this::cancel);
        case 5 -> {
          if (random.nextInt(10) == 0) {
            drain();
          }
        }
        case 6, 7, 8, 9, 10, 11 -> fetchEnds(random.nextInt(3) > 0);
        case 12, 13, 14, 15, 16, 17 -> pick(timers).ifPresent(this::due);
        case 18, 19, 20, 21, 22, 23, 24 -> pick(verifying.keySet()).ifPresent(this::judge);
        case 25, 26, 27, 28, 29, 30, 31 -> pick(sampling.keySet()).ifPresent(this::sampleEnds);
        default -> {
          int room = (int) Math.min(3, asked - given.size());
          if (room > 0) {
            long newest = published.number();
            produce(
                new WeightVersion(Math.max(1, newest - random.nextInt(2))),
                1 + random.nextInt(room));
          }
        }
      }
    }

    /** Answers all requests; then no lease is open, and the worker ends once it is released. */
    private void settle() {
      publish();
      for (int round = 0; round < 200 && !failed; round++) {
        if (fetching.isPresent()) {
          fetchEnds(true);
        }
        List.copyOf(sampling.keySet()).forEach(this::sampleEnds);
        List.copyOf(verifying.keySet()).forEach(this::judge);
        List.copyOf(timers).forEach(this::due);
      }
      if (failed) {
        return;
      }
      assertThat(loaded).isEqualTo(published);
      assertThat(timers).isEmpty();
      assertThat(state.groups()).isEqualTo(WorkerGroups.NONE);
      given
          .keySet()
          .forEach(
              lease ->
                  assertThat(
                          Stream.of(delivered, groupsFailed, cancelled)
                              .anyMatch(ends -> ends.contains(lease)))
                      .as("%s has ended", lease)
                      .isTrue());
      assertThat(freed).isEqualTo(given.size());
      assertThat(draining || asked == FIRST + freed).isTrue();
      assertThat(state.ended()).isFalse();
      assertThat(state.release().state().ended()).isTrue();
    }

    private void publish() {
      published = published.next();
      apply(state.publish(new PublishedWeights(published, digest(published), "memory")));
    }

    private void drain() {
      draining = true;
      apply(state.drain());
      assertThat(last).containsExactly(new WorkerAction.Report(new Input.WorkerRetired(ID)));
    }

    private void produce(WeightVersion atLeast, int groups) {
      List<Assignment> assignments = new ArrayList<>();
      for (int i = 0; i < groups; i++) {
        long number = given.size() + 1L;
        Assignment assignment = POOL.assignment(Toys.lease(number, number), 12, 0, 0);
        given.put(assignment.lease(), assignment);
        oldest.put(assignment.lease(), atLeast);
        assignments.add(assignment);
      }
      apply(state.produce(atLeast, assignments));
    }

    private void cancel(LeaseId lease) {
      boolean waits = state.groups().defers(lease);
      if (!delivered.contains(lease) && !groupsFailed.contains(lease)) {
        cancelled.add(lease);
      }
      if (waits) {
        freed++;
      }
      verifying.remove(lease);
      apply(state.cancel(lease));
      assertThat(state.groups().defers(lease)).isFalse();
    }

    private void fetchEnds(boolean succeeds) {
      if (fetching.isEmpty()) {
        return;
      }
      PublishedWeights tried = fetching.get();
      fetching = Optional.empty();
      if (succeeds) {
        fetchFailures = 0;
        apply(state.fetched(new WeightSnapshot(tried.version(), tried.digest(), List.of())));
      } else {
        fetchFailures += tried.version().equals(published) ? 1 : 0;
        apply(state.fetchFailed(tried, new IllegalStateException("unreachable")));
        assertThat(failed).isEqualTo(fetchFailures == WorkerState.MOST_FETCH_FAILURES);
      }
    }

    private void sampled(LeaseId lease) {
      Episode episode = episode(requireNonNull(sampling.remove(lease)).number());
      WorkerAction.Part part = part(lease);
      freed += part.from() == 0 ? 1 : 0;
      sampleFailures = 0;
      apply(
          state.sampled(
              part,
              Collections.nCopies(part.completions(), episode),
              Collections.nCopies(part.completions(), EpisodeText.of("1"))));
      assertThat(verifying.containsKey(lease)).isEqualTo(!cancelled.contains(lease));
    }

    private WorkerAction.Part part(LeaseId lease) {
      return requireNonNull(parts.get(lease));
    }

    private void sampleEnds(LeaseId lease) {
      int outcome = random.nextInt(20);
      if (outcome > 3) {
        sampled(lease);
        return;
      }
      WorkerAction.Part part = part(lease);
      sampling.remove(lease);
      freed += part.from() == 0 ? 1 : 0;
      if (outcome == 3) {
        apply(state.samplingFailed(part, new RequestRefusedException("too long"), true));
        assertThat(last)
            .contains(
                new WorkerAction.Report(
                    new Input.GroupFailed(lease, new LeaseFailure.OfPrompt("too long"))));
      } else if (outcome == 2 || cancelled.contains(lease)) {
        apply(state.samplingFailed(part, new CancellationException("cancelled"), true));
      } else {
        sampleFailures++;
        apply(state.samplingFailed(part, new IllegalStateException("broken"), true));
        assertThat(failed).isEqualTo(sampleFailures == WorkerState.MOST_SAMPLE_FAILURES);
      }
    }

    private void judge(LeaseId lease) {
      List<Verdict> answer = new ArrayList<>();
      int asks = requireNonNull(verifying.remove(lease));
      for (int i = 0; i < asks; i++) {
        answer.add(
            switch (random.nextInt(8)) {
              case 0 -> new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "too slow");
              case 1, 2 -> new Verdict.Unverifiable(Verdict.Cause.AWAY, "away");
              default -> new Verdict.Scored(random.nextInt(4) == 0 ? 1 : 0, "", "");
            });
      }
      apply(state.judged(lease, answer));
      assertThat(timers.contains(new WorkerAction.Timer.Verify(lease)))
          .isEqualTo(answer.stream().anyMatch(VerdictSummary::away));
    }

    private void due(WorkerAction.Timer timer) {
      if (timers.remove(timer)) {
        apply(state.due(timer));
      }
    }

    private <T> Optional<T> pick(Collection<T> all) {
      return all.stream().skip(all.isEmpty() ? 0 : random.nextInt(all.size())).findFirst();
    }

    private void apply(WorkerState.Next next) {
      state = next.state();
      last = next.actions();
      last.forEach(this::act);
    }

    private void act(WorkerAction action) {
      switch (action) {
        case WorkerAction.Report(Input.FromWorker input) -> report(input);
        case WorkerAction.Sample(List<WorkerAction.Part> begun) -> {
          for (WorkerAction.Part part : begun) {
            LeaseId lease = part.assignment().lease();
            WorkerAction.Part before = parts.put(lease, part);
            assertThat(part.from())
                .isEqualTo(before == null ? 0 : before.from() + before.completions());
            assertThat(part.from() + part.completions()).isLessThanOrEqualTo(SIZE.most());
            assertThat(cancelled).doesNotContain(lease);
            assertThat(loaded).isGreaterThanOrEqualTo(oldest.get(lease));
            assertThat(sampling.put(lease, loaded)).isNull();
          }
        }
        case WorkerAction.Cancel(LeaseId lease) -> assertThat(given).containsKey(lease);
        case WorkerAction.Fetch(PublishedWeights weights) -> {
          assertThat(fetching).as("one fetch at a time").isEmpty();
          assertThat(weights.version()).isEqualTo(published);
          fetching = Optional.of(weights);
        }
        case WorkerAction.Load(WeightSnapshot weights) -> {
          assertThat(weights.version()).isGreaterThan(loaded);
          loaded = weights.version();
        }
        case WorkerAction.Verify(Assignment assignment, List<EpisodeText> completions) -> {
          assertThat(cancelled).doesNotContain(assignment.lease());
          assertThat(completions).hasSizeBetween(1, part(assignment.lease()).completions());
          assertThat(verifying.put(assignment.lease(), completions.size())).isNull();
        }
        case WorkerAction.RecordVerdicts(WorkerGroups.Sampled group, List<Verdict> verdicts) -> {
          assertThat(cancelled).doesNotContain(group.assignment().lease());
          assertThat(verdicts).hasSameSizeAs(group.episodes());
        }
        case WorkerAction.Deliver(ScoredGroup group, List<SampledWeights> weights) -> {
          assertThat(cancelled).doesNotContain(group.lease());
          assertThat(delivered.add(group.lease())).isTrue();
          assertThat(groupsFailed).doesNotContain(group.lease());
          assertThat(SIZE.accepts(group.rewards())).isTrue();
          assertThat(group.rewards()).hasSameSizeAs(group.episodes());
          assertThat(weights)
              .containsExactlyInAnyOrderElementsOf(
                  group.completions().stream()
                      .map(each -> each.versions().newest())
                      .distinct()
                      .map(version -> new SampledWeights(version, digest(version)))
                      .toList());
        }
        case WorkerAction.Schedule(WorkerAction.Timer timer, var pause) -> {
          assertThat(pause).isPositive();
          assertThat(timers.add(timer)).as("%s ran", timer).isTrue();
        }
        case WorkerAction.CancelTimer(WorkerAction.Timer timer) -> timers.remove(timer);
        case WorkerAction.Log _ -> {}
        case WorkerAction.Fail _ -> failed = true;
      }
    }

    private void report(Input.FromWorker input) {
      switch (input) {
        case Input.DemandRaised(WorkerId worker, long total) -> {
          assertThat(worker).isEqualTo(ID);
          assertThat(draining).isFalse();
          assertThat(total).isGreaterThan(asked).isEqualTo(FIRST + freed);
          asked = total;
        }
        case Input.GroupSampled(LeaseId lease) -> assertThat(cancelled).doesNotContain(lease);
        case Input.GroupFailed(LeaseId lease, var _) -> {
          assertThat(groupsFailed.add(lease)).isTrue();
          assertThat(delivered).doesNotContain(lease);
        }
        case Input.VerifierAway(LeaseId lease, String reason) -> {
          assertThat(cancelled).doesNotContain(lease);
          assertThat(reason).isEqualTo("away");
        }
        case Input.WorkerRetired _ -> assertThat(draining).isTrue();
        case Input.WorkerLost _ -> throw new AssertionError("only an actor that stops reports it");
      }
    }
  }
}
