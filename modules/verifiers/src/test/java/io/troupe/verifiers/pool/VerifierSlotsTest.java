package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.Await;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.ThoughtReading;
import io.troupe.verifiers.Verifier;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Verifiers of a pool, taken out of service one by one. */
class VerifierSlotsTest {
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "t", "a", "");

  private static CompletableFuture<Verdict> verify(VerifierService pool) {
    return pool.verify(PROMPT, "c").toCompletableFuture();
  }

  private static List<VerifierSlot.Doing> doing(VerifierService pool) {
    return pool.places().stream().map(VerifierSlot::doing).toList();
  }

  @Test
  void quarantine_whileItJudges_isJudgedByAnotherAndCountedOnce() throws Exception {
    BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    CountDownLatch stuck = new CountDownLatch(1);
    Verifier verifier =
        (_, _) -> {
          String thread = Thread.currentThread().getName();
          boolean first = begun.isEmpty();
          begun.add(thread);
          if (first) {
            Await.latch(stuck);
            return new Verdict.Scored(0, "late", "from the one under quarantine");
          }
          return new Verdict.Scored(1, "again", "from another");
        };
    try (VerifierService pool = VerifierServices.ofVerifier("v", verifier, PoolSettings.of(2))) {
      CompletableFuture<Verdict> verdict = verify(pool);
      String place = begun.take().replace("verifier-", "");
      begun.add(place);
      assertThat(pool.quarantine(place)).isEmpty();
      assertThat(((Verdict.Scored) verdict.join()).reward()).isEqualTo(1);
      assertThat(doing(pool))
          .containsExactlyInAnyOrder(VerifierSlot.Doing.QUARANTINED, VerifierSlot.Doing.IDLE);
      stuck.countDown();
      assertThat(pool.release(place)).isEmpty();
      assertThat(((Verdict.Scored) verify(pool).join()).reward()).isEqualTo(1);
      assertThat(pool.reports().getFirst().scored()).isEqualTo(2);
      assertThat(pool.places().stream().mapToLong(VerifierSlot::judged).sum()).isEqualTo(2);
    }
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new OutOfMemoryError("Java heap space"),
        new NoClassDefFoundError("some/Part"),
        new StackOverflowError(),
        new IllegalStateException("a defect"),
        new IOException("thrown where none is declared"),
        new InterruptedException());
  }

  @ParameterizedTest
  @MethodSource("failures")
  void judge_verifierThrowsAnything_isUnverifiableAndThePlaceGoesOn(Throwable failure)
      throws Exception {
    Verifier verifier =
        (_, completion) -> {
          if (completion.equals("bad")) {
            VerifierSlotsTest.<RuntimeException>throwIt(failure);
          }
          return new Verdict.Scored(1, "", "");
        };
    try (VerifierService pool = VerifierServices.ofVerifier("v", verifier, PoolSettings.of(1))) {
      for (int i = 0; i < 3; i++) {
        Verdict bad = within(pool.verify(PROMPT, "bad"));
        assertThat(bad)
            .isInstanceOfSatisfying(
                Verdict.Unverifiable.class,
                u -> {
                  assertThat(u.cause()).isEqualTo(Verdict.Cause.CRASH);
                  assertThat(u.reason()).startsWith("the verifier failed: ");
                });
        assertThat(within(pool.verify(PROMPT, "good"))).isInstanceOf(Verdict.Scored.class);
      }
      PoolReport report = pool.reports().getFirst();
      assertThat(List.of(report.scored(), report.crashes())).containsExactly(3L, 3L);
      assertThat(report.running()).isZero();
    }
  }

  @Test
  void judge_verifierLeavesItsThreadInterrupted_thePlaceGoesOn() throws Exception {
    Verifier verifier =
        (_, _) -> {
          Thread.currentThread().interrupt();
          return new Verdict.Scored(1, "", "");
        };
    try (VerifierService pool = VerifierServices.ofVerifier("v", verifier, PoolSettings.of(1))) {
      for (int i = 0; i < 3; i++) {
        assertThat(within(pool.verify(PROMPT, "c"))).isInstanceOf(Verdict.Scored.class);
      }
    }
  }

  @Test
  void judge_workerThatMustStartFirst_theStartIsNoPartOfTheTime() throws Exception {
    AtomicLong nanos = new AtomicLong();
    VerifierWorker worker =
        new VerifierWorker() {
          @Override
          public void prepare() {
            nanos.addAndGet(17_000_000_000L);
          }

          @Override
          public Verdict judge(Prompt prompt, JudgedText completion) {
            nanos.addAndGet(5_000_000);
            return new Verdict.Scored(1, "", "");
          }

          @Override
          public void abandon() {}

          @Override
          public void close() {}
        };
    try (VerifierService pool =
        new SupervisedService(
            "v",
            List.of(worker),
            PoolSettings.of(1),
            ThoughtReading.KEEP,
            new PoolMeter(),
            nanos::get,
            () -> {})) {
      TimedVerdict judged = pool.judge(PROMPT, "c").toCompletableFuture().get(60, TimeUnit.SECONDS);
      assertThat(judged.millis()).isEqualTo(5);
      assertThat(pool.reports().getFirst().millisMax()).isLessThan(6);
    }
  }

  private static Verdict within(CompletionStage<Verdict> verdict) throws Exception {
    return verdict.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void throwIt(Throwable failure) throws E {
    throw (E) failure;
  }

  @Test
  void quarantine_lastOneTwiceOrUnknown_isRefusedInWords() {
    Verifier right = (_, _) -> new Verdict.Scored(1, "", "");
    try (VerifierService pool = VerifierServices.ofVerifier("v", right, PoolSettings.of(2))) {
      assertThat(pool.quarantine("v-1")).isEmpty();
      assertThat(pool.quarantine("v-1")).hasValue("v-1: it is under quarantine already");
      assertThat(pool.quarantine("v-2"))
          .hasValue("v-2: it is the last one of its pool at work; release another one first");
      assertThat(pool.release("v-2")).hasValue("v-2: it is not under quarantine");
      assertThat(pool.quarantine("w-1")).hasValue("there is no verifier 'w-1'; there are v-1, v-2");
      assertThat(verify(pool).join()).isInstanceOf(Verdict.Scored.class);
    }
  }

  @Test
  void done_jobTakenAway_isNobodys() throws Exception {
    VerificationQueue<String> queue = new VerificationQueue<>(1, 2);
    assertThat(queue.offer("a")).isTrue();
    assertThat(queue.offer("b")).isFalse();
    String job = queue.take(0);
    assertThat(queue.quarantine(0)).isEmpty();
    assertThat(queue.take(1)).isSameAs(job);
    assertThat(queue.done(0, job)).isFalse();
    assertThat(queue.done(1, job)).isTrue();
    assertThat(queue.done()).containsExactly(0, 1);
  }
}
