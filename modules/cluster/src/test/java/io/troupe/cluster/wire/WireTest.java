package io.troupe.cluster.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.typed.ActorRef;
import com.typesafe.config.ConfigFactory;
import io.troupe.cluster.Desk;
import io.troupe.cluster.Gate;
import io.troupe.cluster.NodeAgent;
import io.troupe.cluster.Pass;
import io.troupe.cluster.Terms;
import io.troupe.cluster.WorkerHost;
import io.troupe.cluster.placement.Share;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Failure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.Assignment;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Portable;
import io.troupe.runtime.PublishedWeights;
import io.troupe.runtime.Recorder;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.runtime.SampledWith;
import io.troupe.runtime.Trainer;
import java.io.NotSerializableException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.recursive.comparison.RecursiveComparisonConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every message that may leave its JVM, there and back. */
final class WireTest {
  private static final ActorTestKit ACTORS =
      ActorTestKit.create(
          ConfigFactory.load(
              ConfigFactory.parseString(
                      """
                      akka.actor.provider = local
                      akka.actor.testkit.typed.system-shutdown-default = 60s
                      akka.coordinated-shutdown.run-by-actor-system-terminate = off
                      """)
                  .withFallback(ConfigFactory.parseResources("troupe-cluster.conf"))));

  private static final LeaseId LEASE = new LeaseId(new GroupId(7), 12);
  private static final WorkerId WORKER = new WorkerId("a-w1-1-0ccdcbe1");
  private static final WeightVersion VERSION = new WeightVersion(3);
  private static final Prompt PROMPT =
      new Prompt(new PromptId("p1"), "toy", "1+1=", "2", "two \u2603");

  private record Unbound(String text) {}

  @AfterAll
  static void stop() {
    ACTORS.shutdownTestKit();
  }

  private static <T> ActorRef<T> ref() {
    return ACTORS.<T>createTestProbe().getRef();
  }

  private static Completion completion(float[] raw) {
    return new Completion(
        new int[] {1, -2, Integer.MAX_VALUE},
        new float[] {-0.5f, -1e-30f, 0},
        TokenVersions.of(new long[] {2, 3, 3}),
        FinishReason.STOP,
        raw);
  }

  static Stream<Portable> messages() {
    Run.Posts posts = new Run.Posts(ref(), ref(), ref());
    List<SampledWith> weights = List.of(new SampledWith(VERSION, "ab12"));
    return Stream.of(
        new Coordinator.Register(WORKER, ref()),
        new Coordinator.RequestWork(WORKER, 1L << 40),
        new Coordinator.WorkerGone(WORKER),
        new Coordinator.Retire(WORKER),
        new Coordinator.GroupSampled(LEASE),
        new Coordinator.GroupFailed(LEASE, new Failure.OfPrompt("because")),
        new Coordinator.GroupFailed(LEASE, new Failure.OfEngine("because")),
        new Coordinator.GroupFailed(LEASE, new Failure.OfVerifier("because")),
        new Coordinator.VerifierAway(LEASE, "nobody is there"),
        new RolloutWorker.Produce(
            VERSION, List.of(new Assignment(LEASE, PROMPT, new int[] {4, 5}, -9))),
        new RolloutWorker.Cancel(LEASE),
        new RolloutWorker.Drain(),
        new RolloutWorker.Released(),
        new RolloutWorker.WeightsPublished(new PublishedWeights(VERSION, "ab12", "/run/v3")),
        new Trainer.Deliver(
            new ScoredGroup(
                LEASE,
                new int[] {4, 5},
                List.of(completion(new float[0]), completion(new float[] {-1, -2, -3})),
                List.of(0.25, 1.0)),
            weights),
        new Recorder.Judged(
            LEASE,
            PROMPT,
            List.of("2", "3"),
            List.of(
                new Verdict.Scored(0.5, "2", "right", List.of(new Check("one", true, false))),
                new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "slow"))),
        new Gate.Knock(new Pass("troupe", "1-ab"), "node a", ref()),
        new Gate.DrainNode(new Pass("troupe", "1"), "a", ref()),
        new Gate.Welcome("troupe"),
        new Gate.Refused("no"),
        new Gate.Outside(),
        new Desk.AskTerms("a", "r", -1, ref()),
        new Desk.Unfit("a", "r", 1),
        new Desk.Enlist("a-w1", 4711, ref()),
        new Desk.ChildEnded("a-w1", 4711),
        new Desk.Serves("a", "127.0.0.2:7001"),
        new Desk.Brought(
            "a",
            12,
            "00ff",
            1L << 40,
            7,
            30,
            List.of(new Desk.Brought.Left("127.0.0.3:7001", "gave too little", true)),
            "no source gives them"),
        new Desk.Report("it rains"),
        new NodeAgent.Offered(
            new Terms(
                "r",
                "/runs/r",
                "t",
                "run:\n  seed: 1\n",
                "00ff",
                true,
                Map.of("data", "12ab"),
                "h:1"),
            new Share(
                1,
                List.of(List.of(2), List.of(3)),
                List.of(new Share.Rank(1, List.of(0))),
                List.of(0),
                List.of(1)),
            ref()),
        new NodeAgent.RunOver("r"),
        new NodeAgent.EndChild("a", "a-t0", 7),
        new NodeAgent.Drain("a", ref()),
        new WorkerHost.Hired(ref(), posts),
        new WorkerHost.Dismissed(),
        new WorkerHost.RunOver());
  }

  @ParameterizedTest
  @MethodSource("messages")
  void message_thereAndBack_isTheSame(Portable message) {
    assertThat(ACTORS.serializationTestKit().verifySerialization(message, false))
        .usingRecursiveComparison(
            RecursiveComparisonConfiguration.builder()
                .withEqualsForType(Object::equals, ActorRef.class)
                .build())
        .isEqualTo(message);
  }

  @Test
  void messages_ofAllProtocols_areTried() {
    Set<Class<?>> tried = messages().map(Portable::getClass).collect(Collectors.toSet());
    Set<Class<?>> all =
        Stream.of(
                Coordinator.Command.class,
                RolloutWorker.Command.class,
                Trainer.Command.class,
                Recorder.Command.class,
                Gate.Command.class,
                Gate.Answer.class,
                Desk.Command.class,
                NodeAgent.Command.class,
                WorkerHost.Command.class)
            .flatMap(protocol -> Stream.of(protocol.getPermittedSubclasses()))
            .filter(Portable.class::isAssignableFrom)
            .collect(Collectors.toSet());
    assertThat(tried).isEqualTo(all);
  }

  @Test
  void unboundType_isRefused() {
    assertThatThrownBy(
            () ->
                ACTORS
                    .serializationTestKit()
                    .verifySerialization(new Unbound("no Java serialization"), false))
        .isInstanceOf(NotSerializableException.class);
  }
}
