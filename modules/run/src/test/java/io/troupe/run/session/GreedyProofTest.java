package io.troupe.run.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.runtime.AdHocSampling;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.weights.InMemoryWeights;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The line that the weights of a toy policy are shown by. */
final class GreedyProofTest {
  private static final long PATIENCE_SECONDS = 60;
  private static final Event LEASE =
      new Event.LeaseGranted(
          new LeaseId(new GroupId(1), 1), new WorkerId("w"), WeightVersion.BASE, 1);

  private final ToyPolicy policy = new ToyPolicy(ToySettings.of("+0123456789=", 8));
  @AutoClose private final EngineRegistry room = new EngineRegistry(policy);
  private final InMemoryWeights weights = new InMemoryWeights();
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

  private GreedyProof proof(String prompt) {
    weights.publish(policy.newTrainer(1).snapshot(WeightVersion.BASE)).toCompletableFuture().join();
    return new GreedyProof(
        new AdHocSampling(room, weights::newest, Runnable::run), policy, prompt, said::add);
  }

  private String line() throws InterruptedException {
    return String.valueOf(said.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void happened_firstLease_showsTheAnswerToThePromptOnce() throws InterruptedException {
    GreedyProof proof = proof("12+3=");
    proof.happened(LEASE);
    assertThat(line()).startsWith("greedy v0: 12+3=|");
    proof.happened(LEASE);
    assertThat(said).isEmpty();
  }

  /** What the policy cannot read ended the coordinator once. */
  @ParameterizedTest
  @CsvSource({
    "The capital of France is, character 'T' (U+0054) at position 0",
    "123456789, the first prompt has 9 tokens of a context of 8",
    "'', the first prompt has 0 tokens of a context of 8",
  })
  void happened_promptThatThePolicyCannotAnswer_saysWhyAndEndsNothing(String prompt, String why)
      throws InterruptedException {
    proof(prompt).happened(LEASE);
    assertThat(line()).startsWith("greedy: no line, because " + why);
  }
}
