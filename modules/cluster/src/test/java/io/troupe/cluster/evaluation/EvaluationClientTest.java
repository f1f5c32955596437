package io.troupe.cluster.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import akka.actor.typed.receptionist.Receptionist;
import com.typesafe.config.ConfigFactory;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.evaluation.EvaluationChunks;
import io.troupe.core.outage.Backoff;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationReply;
import io.troupe.runtime.evaluation.EvaluationRequest;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.runtime.weights.PublishedWeights;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The side that asks, and workers whose answers the tests give by hand. */
class EvaluationClientTest {
  private static final WeightVersion VERSION = new WeightVersion(3);
  private static final EvaluatedWeights WEIGHTS =
      new EvaluatedWeights("r", new PublishedWeights(VERSION, "ab12", "/runs/r"));
  private static final EvaluationChunks.Limits PATIENT =
      new EvaluationChunks.Limits(600_000, 600_000, 8, new Backoff(1, 1));

  @AutoClose("shutdownTestKit")
  private final ActorTestKit actors =
      ActorTestKit.create(
          ConfigFactory.parseString(
                  """
                  akka.actor.provider = local
                  akka.loglevel = OFF
                  akka.stdout-loglevel = OFF
                  akka.actor.testkit.typed.single-expect-default = 60s
                  akka.actor.testkit.typed.system-shutdown-default = 60s
                  akka.coordinated-shutdown.run-by-actor-system-terminate = off
                  """)
              .withFallback(ConfigFactory.load()));

  private final BlockingQueue<Integer> workers = new LinkedBlockingQueue<>();
  private final List<String> said = Collections.synchronizedList(new ArrayList<>());

  private ActorRef<EvaluationClient.Command> client(EvaluationChunks.Limits limits) {
    return actors.spawn(EvaluationClient.create(WEIGHTS, limits, workers::add, said::add));
  }

  private TestProbe<EvaluationSampler.Command> worker(String name) {
    TestProbe<EvaluationSampler.Command> probe =
        actors.createTestProbe(name, EvaluationSampler.Command.class);
    actors
        .system()
        .receptionist()
        .tell(Receptionist.register(EvaluationSampler.SERVICE_KEY, probe.getRef()));
    return probe;
  }

  private void awaitWorkers(int number) throws InterruptedException {
    Integer now = workers.poll(60, TimeUnit.SECONDS);
    while (now == null || now != number) {
      now = workers.poll(60, TimeUnit.SECONDS);
    }
  }

  private static PendingChunk chunk(int requests) {
    return new PendingChunk(
        IntStream.range(0, requests)
            .mapToObj(
                i -> new EvaluationRequest(new int[] {i}, 1, SamplingSettings.greedy(4), 7 + i))
            .toList());
  }

  /** Returns the request to the only worker by a client that has the chunk. */
  private EvaluationSampler.Sample asked(
      TestProbe<EvaluationSampler.Command> worker, PendingChunk chunk) throws InterruptedException {
    ActorRef<EvaluationClient.Command> client = client(PATIENT);
    awaitWorkers(1);
    client.tell(new EvaluationClient.SampleChunk(chunk));
    return worker.expectMessageClass(EvaluationSampler.Sample.class);
  }

  private static Completion completion(int token) {
    return new Completion(
        new int[] {token},
        new float[] {-1},
        TokenVersions.of(new long[] {VERSION.number()}),
        FinishReason.STOP);
  }

  private static void answer(
      EvaluationSampler.Sample asked, int request, int token, String digest) {
    asked
        .replyTo()
        .tell(
            new EvaluationReply.Sampled(
                asked.number(), request, List.of(completion(token)), digest));
  }

  private static int token(PendingChunk chunk, int request) {
    return chunk
        .answers()
        .get(request)
        .toCompletableFuture()
        .orTimeout(60, TimeUnit.SECONDS)
        .join()
        .getFirst()
        .tokens()[0];
  }

  @Test
  void chunk_workerEndsInItsMiddle_isAskedOfAnotherAsAWhole() throws Exception {
    TestProbe<EvaluationSampler.Command> first = worker("first");
    PendingChunk chunk = chunk(2);
    EvaluationSampler.Sample asked = asked(first, chunk);
    answer(asked, 1, 50, "ab12");

    TestProbe<EvaluationSampler.Command> second = worker("second");
    awaitWorkers(2);
    first.stop();
    EvaluationSampler.Sample again = second.expectMessageClass(EvaluationSampler.Sample.class);
    assertThat(again.number()).isNotEqualTo(asked.number());
    assertThat(again.next()).hasSize(2);
    answer(asked, 0, 51, "ab12"); // too late
    answer(again, 0, 60, "ab12");
    answer(again, 1, 61, "ab12");

    assertThat(token(chunk, 0)).isEqualTo(60);
    assertThat(token(chunk, 1)).isEqualTo(61);
    assertThat(said).containsExactly("the rollout worker at %s is gone".formatted(name(first)));
  }

  private static String name(TestProbe<?> probe) {
    return probe.getRef().path().name();
  }

  @Test
  void chunk_answeredWithOtherWeights_isAbandonedAndAskedAgain() throws Exception {
    TestProbe<EvaluationSampler.Command> worker = worker("one");
    PendingChunk chunk = chunk(1);
    EvaluationSampler.Sample asked = asked(worker, chunk);
    answer(asked, 0, 50, "cd34");

    assertThat(worker.expectMessageClass(EvaluationSampler.Abandon.class).number())
        .isEqualTo(asked.number());
    answer(worker.expectMessageClass(EvaluationSampler.Sample.class), 0, 60, "ab12");
    assertThat(token(chunk, 0)).isEqualTo(60);
    assertThat(said)
        .containsExactly(
            "completions were sampled with weights of digest cd34, and v3 of digest ab12 are evaluated");
  }

  @Test
  void chunk_refusedByAllWorkers_failsWithTheirReason() throws Exception {
    TestProbe<EvaluationSampler.Command> worker = worker("one");
    PendingChunk chunk = chunk(1);
    EvaluationSampler.Sample asked = asked(worker, chunk);
    asked.replyTo().tell(new EvaluationReply.Refused(asked.number(), "it follows a server"));

    assertThatThrownBy(() -> token(chunk, 0))
        .hasMessageContaining(
            "no worker of the cluster samples it (1 of 1 refuse): it follows a server");
  }

  @Test
  void chunk_noWorkerIsThere_failsAfterTheLimit() {
    PendingChunk chunk = chunk(1);
    client(PATIENT.withAbsence(1)).tell(new EvaluationClient.SampleChunk(chunk));

    assertThatThrownBy(() -> token(chunk, 0))
        .hasMessageContaining("no rollout worker has been in the cluster for");
  }

  @Test
  void request_noEngineCouldTake_failsAlone() throws Exception {
    TestProbe<EvaluationSampler.Command> worker = worker("one");
    PendingChunk chunk = chunk(2);
    EvaluationSampler.Sample asked = asked(worker, chunk);
    asked.replyTo().tell(new EvaluationReply.Unanswerable(asked.number(), 0, "too long"));
    answer(asked, 1, 61, "ab12");

    assertThat(token(chunk, 1)).isEqualTo(61);
    assertThatThrownBy(() -> token(chunk, 0)).hasMessageContaining("too long");
  }
}
