package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.LeaseId;
import io.troupe.runtime.prompt.Toys;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;
import java.util.stream.Stream;
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

  private List<Verdict> judged(VerifierService service, String... completions) {
    TestProbe<RolloutWorker.Command> worker = actors.createTestProbe();
    ActorRef<VerifierPool.Command> pool = actors.spawn(VerifierPool.create(service));
    pool.tell(
        new VerifierPool.Verify(
            Toys.pool().assignment(LEASE, 12, 0, 0),
            Stream.of(completions).map(EpisodeText::of).toList(),
            worker.getRef()));
    RolloutWorker.Judged answer = worker.expectMessageClass(RolloutWorker.Judged.class);
    assertThat(answer.lease()).isEqualTo(LEASE);
    actors.stop(pool);
    return answer.verdicts();
  }

  @Test
  void verify_completions_judgesThemInOrder() {
    try (VerifierService service = Toys.service(Toys.verifier())) {
      assertThat(judged(service, "4", "3", "2"))
          .extracting(verdict -> ((Verdict.Scored) verdict).reward())
          .containsExactly(0.0, 1.0, 0.0);
    }
  }

  @Test
  void verify_verifierThatThrowsForOne_leavesTheOthersTheirVerdicts() {
    Verifier broken =
        (_, completion) -> {
          if (completion.equals("4")) {
            throw new IllegalStateException("no such grammar");
          }
          return new Verdict.Scored(1, completion, "");
        };
    try (VerifierService service = Toys.service(broken)) {
      List<Verdict> verdicts = judged(service, "4", "3");

      assertThat(((Verdict.Unverifiable) verdicts.getFirst()).reason())
          .isEqualTo("the verifier failed: java.lang.IllegalStateException: no such grammar");
      assertThat(verdicts.getLast()).isEqualTo(new Verdict.Scored(1, "3", ""));
    }
  }

  @Test
  void verify_serviceThatIsClosed_isUnverifiable() {
    VerifierService service = Toys.service(Toys.verifier());
    service.close();

    assertThat(judged(service, "4", "3"))
        .hasSize(2)
        .allSatisfy(
            verdict ->
                assertThat(((Verdict.Unverifiable) verdict).reason())
                    .contains("the verifier pool of toy is closed"));
  }
}
