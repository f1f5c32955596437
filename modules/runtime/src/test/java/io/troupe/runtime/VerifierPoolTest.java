package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.LeaseId;
import io.troupe.verifiers.Verifier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VerifierPoolTest {
  private static final LeaseId LEASE = Toys.lease(1, 1);

  private final ActorTestKit actors = Toys.actors();

  @AfterAll
  void stop() {
    actors.shutdownTestKit();
  }

  private List<Verdict> judged(Verifier verifier, Duration timeout, String... completions) {
    TestProbe<RolloutWorker.Command> worker = actors.createTestProbe();
    ActorRef<VerifierPool.Command> pool = actors.spawn(VerifierPool.create(verifier, 1, timeout));
    pool.tell(
        new VerifierPool.Verify(
            Toys.pool().assignment(LEASE, 12, 0), List.of(completions), worker.getRef()));
    RolloutWorker.Judged answer = worker.expectMessageClass(RolloutWorker.Judged.class);
    assertThat(answer.lease()).isEqualTo(LEASE);
    actors.stop(pool);
    return answer.verdicts();
  }

  @Test
  void verify_completions_judgesThemInOrder() {
    assertThat(judged(Toys.verifier(), Duration.ofSeconds(5), "4", "3", "2"))
        .extracting(verdict -> ((Verdict.Scored) verdict).reward())
        .containsExactly(0.0, 1.0, 0.0);
  }

  @Test
  void verify_verifierThatThrows_isUnverifiable() {
    Verifier broken =
        (_, _) -> {
          throw new IllegalStateException("no such grammar");
        };
    assertThat(judged(broken, Duration.ofSeconds(5), "4", "3"))
        .hasSize(2)
        .allSatisfy(
            verdict ->
                assertThat(((Verdict.Unverifiable) verdict).reason())
                    .startsWith("the verifier failed: ")
                    .contains("no such grammar"));
  }

  @Test
  void verify_verifierThatHangs_isUnverifiableAfterItsTime() {
    CountDownLatch never = new CountDownLatch(1);
    Verifier hanging =
        (_, completion) -> {
          try {
            never.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return new Verdict.Scored(1, completion, "");
        };
    assertThat(judged(hanging, Duration.ofMillis(30), "4", "3"))
        .containsExactly(
            new Verdict.Unverifiable(
                Verdict.Cause.TIMEOUT, "verification took longer than PT0.03S"),
            new Verdict.Unverifiable(
                Verdict.Cause.TIMEOUT, "verification took longer than PT0.03S"));
  }
}
