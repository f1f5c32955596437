package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import akka.actor.typed.receptionist.Receptionist;
import com.typesafe.config.ConfigFactory;
import io.troupe.cluster.membership.ClusterIdentity;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The answers of a gate to a process of another cluster or build. */
final class JoinGateTest {
  private static final ClusterIdentity OWN = new ClusterIdentity("troupe", "1");

  @AutoClose("shutdownTestKit")
  private final ActorTestKit actors =
      ActorTestKit.create(
          ConfigFactory.parseString(
                  """
                  akka.actor.provider = local
                  akka.actor.testkit.typed.single-expect-default = 60s
                  akka.actor.testkit.typed.system-shutdown-default = 60s
                  akka.coordinated-shutdown.run-by-actor-system-terminate = off
                  """)
              .withFallback(ConfigFactory.load()));

  @Test
  void request_ofAnotherClusterOrBuild_isRefusedAndReachesNoNode() {
    TestProbe<Receptionist.Registered> registered = actors.createTestProbe();
    TestProbe<NodeAgent.Command> agent = actors.createTestProbe();
    actors
        .system()
        .receptionist()
        .tell(
            Receptionist.register(
                JoinGate.AGENT_KEY, agent.getRef(), registered.getRef().narrow()));
    registered.receiveMessage();
    ActorRef<JoinGate.Command> gate = actors.spawn(JoinGate.create(OWN));
    TestProbe<JoinGate.Reply> replies = actors.createTestProbe();

    for (ClusterIdentity foreign :
        List.of(new ClusterIdentity("other", "1"), new ClusterIdentity("troupe", "2"))) {
      String reason = OWN.incompatibilityWith(foreign).orElseThrow();
      gate.tell(new JoinGate.DrainNode(foreign, "refused", replies.getRef()));
      replies.expectMessage(new JoinGate.Rejected(reason));
      gate.tell(new JoinGate.RequestJoin(foreign, "somebody", replies.getRef()));
      replies.expectMessage(new JoinGate.Rejected(reason));
    }

    gate.tell(new JoinGate.DrainNode(OWN, "a", replies.getRef()));
    assertThat(agent.receiveMessage())
        .as("the first that a node hears of")
        .isEqualTo(new NodeAgent.Drain("a", replies.getRef()));
  }
}
