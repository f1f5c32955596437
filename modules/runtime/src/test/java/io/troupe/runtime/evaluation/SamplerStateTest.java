package io.troupe.runtime.evaluation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.TestInbox;
import akka.actor.typed.ActorRef;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.evaluation.EvaluationChunk.Asking;
import io.troupe.runtime.weights.PublishedWeights;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SamplerStateTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final SamplerAction.Timer SIGN = new SamplerAction.Timer.Sign();
  private static final SamplerAction.Timer IDLE = new SamplerAction.Timer.Idle();
  private static final String RUN = "r";
  private static final SamplerState.Terms TERMS =
      new SamplerState.Terms("a-w1", RUN, Optional.empty(), PATIENCE, Duration.ofMinutes(2));

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void transitions_arbitraryMessages_keepWhatASamplerPromises(long seed) {
    Surroundings around = new Surroundings(seed);
    for (int i = 0; i < 400; i++) {
      around.disturb();
    }
    around.settle();
  }

  @Test
  void signDue_engineSamplesNothing_failsWhenPatienceEndsAndNotBefore() {
    Surroundings around = Surroundings.sampling();
    around.now += PATIENCE.toNanos() - 1;
    around.fire(SIGN);
    assertThat(around.state.chunk()).as("patience is left").isPresent();

    around.now += 1;
    around.fire(SIGN);

    assertThat(around.last)
        .containsExactly(
            new EvaluationReply.Failed(
                1, "the engine of worker a-w1 has sampled no token for 10 min"));
    assertThat(around.state.held()).as("an engine that gets nowhere").isEmpty();
  }

  @Test
  void signDue_engineSampledAToken_startsPatienceAgain() {
    Surroundings around = Surroundings.sampling();
    around.now += PATIENCE.toNanos() - 1;
    around.tokens++;
    around.fire(SIGN);

    around.now += PATIENCE.toNanos() - 1;
    around.fire(SIGN);

    assertThat(around.last).containsExactly(new EvaluationReply.Working(1));
  }

  /** An engine that is only compared. */
  private static final class Opened implements SamplingEngine {
    private final WeightSnapshot weights;
    private boolean closed;

    Opened(WeightSnapshot weights) {
      this.weights = weights;
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      throw new AssertionError("a state samples nothing");
    }

    @Override
    public CompletionStage<WeightVersion> load(WeightSnapshot ofVersion) {
      return CompletableFuture.completedStage(ofVersion.version());
    }

    @Override
    public void cancel(LeaseId lease) {
      throw new AssertionError("a state cancels nothing");
    }

    @Override
    public void close() {
      assertThat(closed).as("an engine is closed once").isFalse();
      closed = true;
    }
  }

  /** The purpose of one request, and its outcome. */
  private static final class Wanted {
    private final EvaluatedWeights weights;
    private final int size;
    private final Set<Integer> answered = new HashSet<>();
    private boolean over;

    Wanted(EvaluatedWeights weights, int size) {
      this.weights = weights;
      this.size = size;
    }
  }

  /** A request that an engine has not answered. */
  private record Open(Asking asking, int request, Opened engine) {}

  /** All that a sampler deals with: processes that ask, weights, engines, timers. */
  private static final class Surroundings {
    private final Random random;
    private final List<ActorRef<EvaluationReply>> askers =
        Stream.generate(() -> TestInbox.<EvaluationReply>create().getRef()).limit(3).toList();
    private final Map<Asking, Wanted> wanted = new LinkedHashMap<>();
    private final Deque<EvaluationSampler.Sample> parts = new ArrayDeque<>();
    private final List<Asking> fetches = new ArrayList<>();
    private final List<Open> open = new ArrayList<>();
    private final List<Opened> engines = new ArrayList<>();
    private final Set<LeaseId> leases = new HashSet<>();
    private final Set<ActorRef<EvaluationReply>> watched = new HashSet<>();
    private final Set<SamplerAction.Timer> timers = new HashSet<>();
    private final List<EvaluationReply> last = new ArrayList<>();
    private SamplerState state = SamplerState.idle(TERMS);
    private long numbers;
    private long tokens;
    private long now;

    Surroundings(long seed) {
      this.random = new Random(seed);
    }

    private Wanted wanted(Asking asking) {
      return requireNonNull(wanted.get(asking));
    }

    /** A chunk of one request is on an engine. */
    static Surroundings sampling() {
      Surroundings around = new Surroundings(0);
      around.ask(around.askers.getFirst(), evaluated(RUN, 2), 1, 1);
      around.fetched(true);
      return around;
    }

    private static EvaluatedWeights evaluated(String run, long version) {
      return new EvaluatedWeights(
          run, new PublishedWeights(new WeightVersion(version), "digest-" + version, "there"));
    }

    private void ask(
        ActorRef<EvaluationReply> asker, EvaluatedWeights weights, int size, int first) {
      if (weights.run().equals(RUN)) { // It gives up the chunk that it asked for before.
        giveUp(asker);
      }
      List<EvaluationRequest> requests =
          Stream.generate(
                  () -> new EvaluationRequest(new int[] {1}, 1, new SamplingSettings(1, 3), 7))
              .limit(size)
              .toList();
      long number = ++numbers;
      wanted.put(new Asking(asker, number), new Wanted(weights, size));
      EvaluationSampler.Sample begin =
          new EvaluationSampler.Sample(number, weights, 0, size, requests.subList(0, first), asker);
      if (first < size) {
        parts.add(
            new EvaluationSampler.Sample(
                number, weights, first, size, requests.subList(first, size), asker));
      }
      become(state.sample(begin, now));
    }

    private void giveUp(ActorRef<EvaluationReply> asker) {
      wanted.entrySet().stream()
          .filter(each -> each.getKey().asker().equals(asker))
          .forEach(each -> each.getValue().over = true);
    }

    void disturb() {
      now += random.nextLong(Duration.ofMinutes(3).toNanos());
      switch (random.nextInt(9)) {
        case 0 -> {
          int size = 1 + random.nextInt(4);
          ask(
              askers.get(random.nextInt(askers.size())),
              evaluated(random.nextInt(10) == 0 ? "other" : RUN, random.nextInt(3)),
              size,
              1 + random.nextInt(size));
        }
        case 1 -> part();
        case 2 -> abandon();
        case 3 -> lose();
        case 4 -> fetched(random.nextInt(4) > 0);
        case 5, 6 -> answer(random.nextInt(8));
        case 7 -> fail();
        default -> {
          tokens += random.nextInt(2);
          List.copyOf(timers).forEach(this::fire); // One runs at most.
        }
      }
    }

    private void part() {
      Optional.ofNullable(parts.poll()).ifPresent(part -> become(state.sample(part, now)));
    }

    private void abandon() {
      List<Asking> all = List.copyOf(wanted.keySet());
      if (!all.isEmpty()) {
        Asking asking = all.get(Math.max(0, all.size() - 1 - random.nextInt(3)));
        wanted(asking).over = true;
        become(state.abandon(asking));
      }
    }

    private void lose() {
      for (ActorRef<EvaluationReply> asker : List.copyOf(watched)) {
        giveUp(asker);
        become(state.lost(asker));
      }
    }

    private void fetched(boolean here) {
      if (fetches.isEmpty()) {
        return;
      }
      Asking asking = fetches.removeFirst();
      PublishedWeights weights = wanted(asking).weights.weights();
      become(
          here
              ? state.fetched(
                  asking, new WeightSnapshot(weights.version(), weights.digest(), List.of()))
              : state.fetchFailed(
                  asking,
                  random.nextBoolean()
                      ? new UnfitWeightsException("no such folder")
                      : new IOException("the disk is away")));
    }

    private void answer(int kind) {
      if (open.isEmpty()) {
        return;
      }
      Open one = open.remove(random.nextInt(open.size()));
      Completion completion =
          new Completion(
              new int[] {1},
              new float[] {-1},
              TokenVersions.uniform(one.engine().weights.version(), 1),
              FinishReason.STOP);
      become(
          switch (kind) {
            case 0 ->
                state.notAnswered(
                    one.asking(), one.request(), new RequestRefusedException("too long"));
            case 1 ->
                state.notAnswered(one.asking(), one.request(), new IOException("a bus error"));
            default -> state.answered(one.asking(), one.request(), List.of(completion));
          });
    }

    /** Some engine fails, perhaps one that was closed before. */
    private void fail() {
      if (engines.isEmpty()) {
        return;
      }
      Opened engine = engines.get(Math.max(0, engines.size() - 1 - random.nextInt(2)));
      become(
          switch (random.nextInt(3)) {
            case 0 -> state.loadFailed(engine, new IllegalArgumentException("another shape"));
            case 1 -> state.loadFailed(engine, new IOException("no memory"));
            default -> state.engineLost(engine, "a bus error");
          });
      assertThat(engine.closed).as("an engine that failed is closed").isTrue();
    }

    private void fire(SamplerAction.Timer timer) {
      assertThat(timers.remove(timer)).isTrue();
      become(
          switch (timer) {
            case SamplerAction.Timer.Sign _ ->
                state.signDue(state.held().isPresent() ? tokens : 0, now);
            case SamplerAction.Timer.Idle _ -> state.idleTimeElapsed();
          });
    }

    private void become(SamplerState.Next next) {
      last.clear();
      apply(next);
      assertThat(watched)
          .isEqualTo(state.chunk().map(chunk -> Set.of(chunk.asking().asker())).orElse(Set.of()));
      assertThat(timers).isSubsetOf(state.chunk().isEmpty() ? IDLE : SIGN);
      if (state.chunk().isEmpty() && state.held().isPresent()) {
        assertThat(timers).as("the engine is closed some time").isNotEmpty();
      }
      assertThat(engines.stream().filter(engine -> !engine.closed))
          .isEqualTo(state.held().map(held -> List.of(held.engine())).orElse(List.of()));
    }

    private void apply(SamplerState.Next next) {
      state = next.state();
      next.actions().forEach(this::act);
    }

    private void act(SamplerAction action) {
      switch (action) {
        case SamplerAction.Answer(ActorRef<EvaluationReply> asker, EvaluationReply reply) ->
            told(new Asking(asker, reply.number()), reply);
        case SamplerAction.Watch(ActorRef<EvaluationReply> asker) ->
            assertThat(watched.add(asker)).isTrue();
        case SamplerAction.Unwatch(ActorRef<EvaluationReply> asker) ->
            assertThat(watched.remove(asker)).isTrue();
        case SamplerAction.Fetch(Asking asking, EvaluatedWeights weights) -> {
          assertThat(weights).isEqualTo(wanted(asking).weights);
          fetches.add(asking);
        }
        case SamplerAction.Open(WeightSnapshot weights) -> {
          Opened engine = new Opened(weights);
          engines.add(engine);
          apply(state.opened(weights, engine));
        }
        case SamplerAction.Sample(Asking asking, var engine, List<SampleRequest> requests) ->
            sampled(asking, (Opened) engine, requests);
        case SamplerAction.Cancel(var engine, List<LeaseId> own) -> {
          assertThat(((Opened) engine).closed).isFalse();
          assertThat(leases).containsAll(own);
        }
        case SamplerAction.Close(SamplingEngine engine) -> engine.close();
        case SamplerAction.Schedule(SamplerAction.Timer timer, Duration _) -> timers.add(timer);
        case SamplerAction.CancelTimer(SamplerAction.Timer timer) -> timers.remove(timer);
      }
    }

    private void sampled(Asking asking, Opened engine, List<SampleRequest> requests) {
      Wanted want = wanted(asking);
      assertThat(engine.closed).isFalse();
      assertThat(engine.weights.digest()).isEqualTo(want.weights.weights().digest());
      assertThat(engine.weights.version()).isEqualTo(want.weights.weights().version());
      assertThat(requests).hasSize(want.size);
      for (int i = 0; i < requests.size(); i++) {
        assertThat(leases.add(requests.get(i).lease())).as("a lease of its own").isTrue();
        open.add(new Open(asking, i, engine));
      }
    }

    private void told(Asking asking, EvaluationReply reply) {
      last.add(reply);
      Wanted want = wanted(asking);
      assertThat(want.over).as("%s after the end of its chunk", reply).isFalse();
      switch (reply) {
        case EvaluationReply.Working _ -> {}
        case EvaluationReply.Sampled(long _, int request, var completions, String digest) -> {
          assertThat(want.weights.objection(digest, completions)).isEmpty();
          assertThat(want.answered.add(request)).as("request %d once", request).isTrue();
        }
        case EvaluationReply.Unanswerable(long _, int request, String _) ->
            assertThat(want.answered.add(request)).as("request %d once", request).isTrue();
        case EvaluationReply.Busy _ -> {
          assertThat(state.chunk().orElseThrow().asking().asker()).isNotEqualTo(asking.asker());
          want.over = true;
        }
        case EvaluationReply.Failed _ -> want.over = true;
        case EvaluationReply.Refused _ -> want.over = true;
      }
      want.over = want.over || want.answered.size() == want.size;
    }

    /** Ends all open requests: then each is over, and no engine is left. */
    void settle() {
      while (!parts.isEmpty()) {
        part();
      }
      while (!fetches.isEmpty()) {
        fetched(true);
      }
      while (!open.isEmpty()) {
        answer(7);
      }
      assertThat(state.chunk()).isEmpty();
      assertThat(wanted.values()).allMatch(want -> want.over);
      if (timers.contains(IDLE)) {
        fire(IDLE);
      }
      assertThat(engines).allMatch(engine -> engine.closed);
    }
  }
}
