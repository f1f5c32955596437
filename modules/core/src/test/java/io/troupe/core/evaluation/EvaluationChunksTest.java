package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.outage.Backoff;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EvaluationChunksTest {
  private static final EvaluationChunks.Limits LIMITS =
      new EvaluationChunks.Limits(60_000, 300_000, 3, new Backoff(1_000, 4_000));

  private static EvaluationChunks with(Set<String> workers, long... chunks) {
    EvaluationChunks state = EvaluationChunks.none(LIMITS, 0).present(workers);
    for (long chunk : chunks) {
      state = state.added(chunk, 0);
    }
    return state;
  }

  private static EvaluationChunks askNext(EvaluationChunks state, long now) {
    return state.asked(state.next(now).orElseThrow(), now);
  }

  @Test
  void next_severalWorkers_eachIsAskedForOneChunkLowestFirst() {
    EvaluationChunks state = with(Set.of("a", "b"), 7, 3, 5);

    assertThat(state.next(0)).contains(new EvaluationChunks.Ask(1, "a", 3));
    state = askNext(state, 0);
    assertThat(state.next(0)).contains(new EvaluationChunks.Ask(2, "b", 5));
    state = askNext(state, 0);
    assertThat(state.next(0)).isEmpty();
    assertThat(state.done(2, 10).next(10)).contains(new EvaluationChunks.Ask(3, "b", 7));
  }

  @Test
  void present_workerIsLost_itsChunkIsAskedOfAnother() {
    EvaluationChunks state = askNext(with(Set.of("a"), 1), 0).present(Set.of("b"));

    assertThat(state.next(0)).contains(new EvaluationChunks.Ask(2, "b", 1));
    EvaluationChunks again = state.asked(state.next(0).orElseThrow(), 0);
    assertThat(again.done(1, 5)).as("an answer of the lost worker").isEqualTo(again);
    assertThat(again.done(2, 5).idle()).isTrue();
  }

  @Test
  void failed_workerAlone_isAskedAgainAfterPausesThatDouble() {
    EvaluationChunks state = askNext(with(Set.of("a"), 1), 0).failed(1, "no memory", 100);

    assertThat(state.next(1_099)).isEmpty();
    state = askNext(state, 1_100).failed(2, "no memory", 2_000);
    assertThat(state.next(3_999)).isEmpty();
    assertThat(state.next(4_000)).isPresent();
    assertThat(state.obstacle(4_000)).isEmpty();
    assertThat(askNext(state, 4_000).failed(3, "no memory", 5_000).obstacle(5_000))
        .contains("its chunk of prompts failed 3 times, the last time: no memory");
  }

  @Test
  void silent_workerGivesNoSign_isNamedAfterTheLimit() {
    EvaluationChunks state = askNext(with(Set.of("a"), 1), 0);

    assertThat(state.working(1, 30_000).silent(89_999)).isEmpty();
    assertThat(state.working(1, 30_000).silent(90_000)).containsExactly(1L);
  }

  @Test
  void refused_byAllThatAreThere_endsWithTheirReasons() {
    EvaluationChunks state = with(Set.of("a", "b"), 1);
    state = askNext(state, 0).refused(1, "a follows a server", 1);
    assertThat(state.obstacle(1)).isEmpty();
    assertThat(state.next(1)).map(EvaluationChunks.Ask::worker).contains("b");
    state = askNext(state, 1).refused(2, "b sees no folder", 2);

    assertThat(state.obstacle(2))
        .contains(
            "no worker of the cluster samples it (2 of 2 refuse): a follows a server; b sees no folder");
    assertThat(state.present(Set.of("a", "b", "c")).obstacle(3)).isEmpty();
  }

  @Test
  void obstacle_noWorkerForTheLimit_saysSo() {
    EvaluationChunks state = with(Set.of(), 1);

    assertThat(state.obstacle(299_999)).isEmpty();
    assertThat(state.obstacle(300_000))
        .contains("no rollout worker has been in the cluster for 5 min");
    EvaluationChunks lost = askNext(with(Set.of("a"), 1), 0).present(Set.of());
    assertThat(lost.obstacle(300_000))
        .contains(
            "no rollout worker has been in the cluster for 5 min; the last failure: a was lost");
  }

  @Test
  void busy_workerOfAnotherEvaluation_isNoFailureAndAskedLater() {
    EvaluationChunks state = askNext(with(Set.of("a"), 1), 0).busy(1, 250_000);

    assertThat(state.failures()).isEmpty();
    assertThat(state.next(250_999)).isEmpty();
    assertThat(state.next(251_000)).isPresent();
    assertThat(state.obstacle(500_000)).isEmpty();
  }

  /**
   * Workers come, go, fail, hang and answer late in any order. Each chunk is completed once, a
   * worker has one chunk at a time, and all chunks are completed while a worker is left that works.
   */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void chunks_anyOrderOfLossesAndAnswers_areEachDoneOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    EvaluationChunks.Limits limits =
        new EvaluationChunks.Limits(60_000, Long.MAX_VALUE / 4, Integer.MAX_VALUE, LIMITS.pauses());
    EvaluationChunks state = EvaluationChunks.none(limits, 0);
    Set<String> present = new TreeSet<>(Set.of("steady"));
    Map<Long, EvaluationChunks.Ask> atWorkers = new HashMap<>();
    List<Long> completed = new ArrayList<>();
    long chunks = 1L + random.nextInt(30);
    long added = 0;
    long now = 0;
    int born = 0;
    state = state.present(present);
    while (completed.size() < chunks) {
      now += random.nextInt(2_000);
      if (added < chunks && random.nextInt(3) == 0) {
        state = state.added(++added, now);
      }
      switch (random.nextInt(12)) {
        case 0 -> {
          present.add("w" + ++born);
          state = state.present(present);
        }
        case 1 -> {
          present.stream()
              .filter(name -> !name.equals("steady"))
              .findAny()
              .ifPresent(present::remove);
          state = state.present(present);
        }
        default -> {}
      }
      for (Optional<EvaluationChunks.Ask> next = state.next(now); next.isPresent(); ) {
        state = state.asked(next.get(), now);
        atWorkers.put(next.get().number(), next.get());
        next = state.next(now);
      }
      for (long number : state.silent(now)) {
        state = state.failed(number, "silent", now);
      }
      for (EvaluationChunks.Ask ask : List.copyOf(atWorkers.values())) {
        int what = random.nextInt(ask.worker().equals("steady") ? 8 : 14);
        boolean current = state.of(ask.number()).isPresent();
        switch (what) {
          case 0, 1 -> {
            if (current) {
              completed.add(ask.chunk());
            }
            state = state.done(ask.number(), now);
            atWorkers.remove(ask.number());
          }
          case 2 -> state = state.working(ask.number(), now);
          case 3 -> {
            state = state.busy(ask.number(), now);
            atWorkers.remove(ask.number());
          }
          case 12 -> state = state.refused(ask.number(), "no", now);
          case 13 -> state = state.failed(ask.number(), "broken", now);
          default -> {}
        }
      }
      List<String> working =
          state.open().values().stream().map(EvaluationChunks.Asked::worker).toList();
      List<Long> open = state.open().values().stream().map(EvaluationChunks.Asked::chunk).toList();
      assertThat(new HashSet<>(working)).as("a worker has one chunk").hasSize(working.size());
      assertThat(present).containsAll(working);
      assertThat(new HashSet<>(open)).as("a chunk is at one worker").hasSize(open.size());
      assertThat(Collections.disjoint(state.waiting(), open)).as("none waits").isTrue();
      assertThat(completed.size() + state.waiting().size() + open.size()).isEqualTo((int) added);
      assertThat(state.obstacle(now)).isEmpty();
    }
    assertThat(completed).doesNotHaveDuplicates().hasSize((int) chunks);
    assertThat(state.idle()).isTrue();
    assertThat(state.failures()).isEmpty();
  }
}
