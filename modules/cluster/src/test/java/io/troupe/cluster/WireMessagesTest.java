package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.typed.ActorRef;
import akka.serialization.Serialization;
import akka.serialization.SerializationExtension;
import akka.serialization.SerializerWithStringManifest;
import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import com.typesafe.config.ConfigFactory;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Recorder;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.runtime.Trainer;
import io.troupe.runtime.WireMessage;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationReply;
import io.troupe.runtime.evaluation.EvaluationRequest;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.SampledWeights;
import java.io.NotSerializableException;
import java.nio.charset.StandardCharsets;
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
final class WireMessagesTest {
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

  static Stream<WireMessage> messages() {
    Run.RunActors actors = new Run.RunActors(ref(), ref(), ref());
    List<SampledWeights> weights = List.of(new SampledWeights(VERSION, "ab12"));
    return Stream.of(
        new Coordinator.Register(WORKER, ref()),
        new Coordinator.Report(new Input.DemandRaised(WORKER, 1L << 40)),
        new Coordinator.Report(new Input.WorkerLost(WORKER)),
        new Coordinator.Report(new Input.WorkerRetired(WORKER)),
        new Coordinator.Report(new Input.GroupSampled(LEASE)),
        new Coordinator.Report(new Input.GroupFailed(LEASE, new LeaseFailure.OfPrompt("because"))),
        new Coordinator.Report(new Input.GroupFailed(LEASE, new LeaseFailure.OfEngine("because"))),
        new Coordinator.Report(
            new Input.GroupFailed(LEASE, new LeaseFailure.OfVerifier("because"))),
        new Coordinator.Report(
            new Input.GroupFailed(LEASE, new LeaseFailure.OfEnvironment("because"))),
        new Coordinator.Report(new Input.VerifierAway(LEASE, "nobody is there")),
        new RolloutWorker.Produce(
            VERSION, List.of(new Assignment(LEASE, PROMPT, new int[] {4, 5}, -9))),
        new RolloutWorker.Cancel(LEASE),
        new RolloutWorker.Drain(),
        new RolloutWorker.Released(),
        new RolloutWorker.WeightsPublished(new PublishedWeights(VERSION, "ab12", "/run/v3")),
        new EvaluationSampler.Sample(
            3,
            new EvaluatedWeights(
                "r", new PublishedWeights(VERSION, "ab12", "/runs/r/v3"), "ab/1/h:1//", "00ff"),
            0,
            2,
            List.of(
                new EvaluationRequest(
                    new int[] {4, 5},
                    16,
                    new SamplingSettings(
                        0.7, 0.9, 40, 0.1, 1.1, 64, Set.of(7, 9), List.of("Q:", "\n"), true),
                    -9)),
            ref()),
        new EvaluationSampler.Abandon(3, ref()),
        new EvaluationReply.Sampled(
            3, 1, List.of(completion(new float[0]), completion(new float[] {-1, -2, -3})), "ab12"),
        new EvaluationReply.Unanswerable(3, 1, "too long"),
        new EvaluationReply.Working(3),
        new EvaluationReply.Busy(3),
        new EvaluationReply.Failed(3, "no memory"),
        new EvaluationReply.Refused(3, "another run"),
        new Trainer.Deliver(
            ScoredGroup.ofCompletions(
                LEASE,
                new int[] {4, 5},
                List.of(completion(new float[0]), completion(new float[] {-1, -2, -3})),
                List.of(0.25, 1.0)),
            weights),
        new Trainer.Deliver(
            new ScoredGroup(LEASE, new int[] {4, 5}, List.of(episode()), List.of(0.5)), weights),
        new Recorder.Judged(
            LEASE,
            PROMPT,
            List.of("2", "3"),
            List.of(
                new Verdict.Scored(0.5, "2", "right", List.of(new Check("one", true, false))),
                new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "slow")),
            List.of(
                new EpisodeTrace(
                    StopReason.COMPLETED,
                    List.of(
                        new EpisodeTrace.TurnTrace(
                            "main",
                            0,
                            new EpisodeTrace.TurnText("", 0, "2"),
                            new TokenVersions(
                                List.of(new TokenVersions.Span(new WeightVersion(3), 1))),
                            true,
                            12,
                            List.of(
                                new ToolRun(
                                    "call_0_0", "calc", ToolRun.Outcome.RAN, 0, 5, 6, 7, 8)),
                            0.25))))),
        new JoinGate.RequestJoin(new ClusterIdentity("troupe", "1-ab"), "node a", ref()),
        new JoinGate.DrainNode(new ClusterIdentity("troupe", "1"), "a", ref()),
        new JoinGate.Accepted("troupe"),
        new JoinGate.Rejected("no"),
        new JoinGate.NotAMember(),
        new NodeRegistry.RegisterNode("a", "r", -1, ref()),
        new NodeRegistry.RejectAssignment("a", "r", 1),
        new NodeRegistry.RegisterWorker("a-w1", 4711, ref()),
        new NodeRegistry.ReportChildEnd("a-w1", 4711),
        new NodeRegistry.AnnounceWeightServer("a", "127.0.0.2:7001"),
        new NodeRegistry.ReportTransfer(
            "a",
            12,
            "00ff",
            1L << 40,
            7,
            30,
            List.of(
                new NodeRegistry.ReportTransfer.AbandonedSource(
                    "127.0.0.3:7001", "gave too little", true)),
            "no source gives them"),
        new NodeRegistry.NotifyOperator("it rains"),
        new NodeAgent.AssignmentOffered(
            new RunDescriptor(
                "r",
                "/runs/r",
                "t",
                "run:\n  seed: 1\n",
                "00ff",
                true,
                Map.of("data", "12ab"),
                "h:1"),
            new NodeAssignment(
                1,
                List.of(List.of(2), List.of(3)),
                List.of(new NodeAssignment.AssignedRank(1, List.of(0))),
                List.of(0),
                List.of(1)),
            ref()),
        new NodeAgent.RunEnded("r", true),
        new NodeAgent.StopChild("a", "a-t0", 7),
        new NodeAgent.Drain("a", ref()),
        new WorkerHost.Registered(ref(), actors),
        new WorkerHost.Evicted(),
        new WorkerHost.RunEnded());
  }

  @ParameterizedTest
  @MethodSource("messages")
  void message_thereAndBack_isTheSame(WireMessage message) {
    assertThat(ACTORS.serializationTestKit().verifySerialization(message, false))
        .usingRecursiveComparison(
            RecursiveComparisonConfiguration.builder()
                .withEqualsForType(Object::equals, ActorRef.class)
                .build())
        .isEqualTo(message);
  }

  @Test
  void messages_ofAllProtocols_areTried() {
    Set<Class<?>> tried = messages().map(WireMessage::getClass).collect(Collectors.toSet());
    Set<Class<?>> all =
        Stream.of(
                Coordinator.Command.class,
                RolloutWorker.Command.class,
                EvaluationSampler.Command.class,
                EvaluationReply.class,
                Trainer.Command.class,
                Recorder.Command.class,
                JoinGate.Command.class,
                JoinGate.Reply.class,
                NodeRegistry.Command.class,
                NodeAgent.Command.class,
                WorkerHost.Command.class)
            .flatMap(protocol -> Stream.of(protocol.getPermittedSubclasses()))
            .filter(WireMessage.class::isAssignableFrom)
            .collect(Collectors.toSet());
    assertThat(tried).isEqualTo(all);
  }

  @Test
  void inputs_ofWorkers_areTried() {
    Set<Class<?>> tried =
        messages()
            .filter(Coordinator.Report.class::isInstance)
            .map(message -> ((Coordinator.Report) message).input().getClass())
            .collect(Collectors.toSet());
    assertThat(tried).isEqualTo(Set.of(Input.FromWorker.class.getPermittedSubclasses()));
  }

  /**
   * Messages that the trainer alone may send: a worker that could send them would get past the
   * digest check.
   */
  @Test
  void input_ofAnotherThanAWorker_isRefused() throws Exception {
    Serialization serialization = SerializationExtension.get(ACTORS.system().classicSystem());
    Object message =
        new Coordinator.Report(new Input.GroupFailed(LEASE, new LeaseFailure.OfPrompt("because")));
    SerializerWithStringManifest serializer =
        (SerializerWithStringManifest) serialization.findSerializerFor(message);
    byte[] bytes = serializer.toBinary(message);
    String manifest = serializer.manifest(message);
    assertThat(serializer.fromBinary(bytes, manifest)).isEqualTo(message);
    String forged =
        new String(bytes, StandardCharsets.ISO_8859_1).replace("GroupFailed", "GroupScored");
    assertThatThrownBy(
            () -> serializer.fromBinary(forged.getBytes(StandardCharsets.ISO_8859_1), manifest))
        .isInstanceOf(InvalidTypeIdException.class)
        .hasMessageContaining("GroupScored");
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

  /** Two turns in one sequence that begins with the group's prompt, and one in another. */
  private static Episode episode() {
    OpenEpisode open = OpenEpisode.under(LEASE);
    for (int[] request : new int[][] {{4, 5}, {4, 5, 1, -2, Integer.MAX_VALUE, 9}, {8}}) {
      OpenEpisode.Answered answered =
          new OpenEpisode.Answered("main", request, completion(new float[0]), 5, 6);
      open = ((OpenEpisode.Recorded) open.record(LEASE, answered)).episode();
    }
    ToolRun run = new ToolRun("call_0_0", "calc", ToolRun.Outcome.RAN, 0, 5, 6, 7, 8);
    return open.withTools(0, List.of(run)).stopped(StopReason.COMPLETED);
  }
}
