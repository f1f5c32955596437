package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import akka.actor.typed.Props;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.receptionist.Receptionist;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings.ClusterRole;
import io.troupe.core.reward.Verdict;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The actors that receive large messages have the paths that the transport is configured with. */
class LargeMessagesTest {
  private static final String KEY = "akka.remote.artery.large-message-destinations";

  private final Config config =
      new ClusterSettings(
              new HostPort("127.0.0.1", 0),
              Set.of(ClusterRole.ROLLOUT),
              ClusterSettings.MIN_FRAME_BYTES,
              ConfigFactory.empty(),
              true)
          .config();

  @Test
  void config_namesTheCoordinatorsActors() {
    assertThat(config.getStringList(KEY))
        .contains("/user/coordination/run/trainer", "/user/coordination/run/recorder");
  }

  @Test
  void config_matchesARolloutWorkerWhereItsHostStartsIt() throws Exception {
    CompletableFuture<String> path = new CompletableFuture<>();
    try (VerifierService verifier =
        VerifierServices.ofVerifier(
            "toy", (_, said) -> new Verdict.Scored(0, said, ""), PoolSettings.of(1))) {
      ActorSystem<WorkerHost.Command> system =
          ActorSystem.create(
              WorkerHost.guardian(
                  "a-w1",
                  verifier,
                  (_, _) -> new byte[0],
                  Behaviors.ignore(),
                  (_, _) -> telling(path),
                  () -> {}),
              ClusterSettings.SYSTEM_NAME,
              ConfigFactory.parseString("akka.actor.provider = local").withFallback(config));
      try {
        system.systemActorOf(registry(), NodeRegistry.NAME, Props.empty());
        String worker = path.get(60, TimeUnit.SECONDS);
        assertThat(worker).startsWith("/user/");
        assertThat(config.getStringList(KEY))
            .anyMatch(pattern -> worker.matches(pattern.replace("*", "[^/]+")));
      } finally {
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);
      }
    }
  }

  private static Behavior<RolloutWorker.Command> telling(CompletableFuture<String> path) {
    return Behaviors.setup(
        context -> {
          path.complete(context.getSelf().path().toStringWithoutAddress());
          return Behaviors.empty();
        });
  }

  /** Accepts every worker, for a run without actors. */
  private static Behavior<NodeRegistry.Command> registry() {
    return Behaviors.setup(
        context -> {
          ActorRef<NodeRegistry.Command> self = context.getSelf();
          context
              .getSystem()
              .receptionist()
              .tell(Receptionist.register(NodeRegistry.SERVICE_KEY, self));
          Run.RunActors actors =
              new Run.RunActors(
                  context.getSystem().ignoreRef(),
                  context.getSystem().ignoreRef(),
                  context.getSystem().ignoreRef());
          return Behaviors.receive(NodeRegistry.Command.class)
              .onMessage(
                  NodeRegistry.RegisterWorker.class,
                  registration -> {
                    registration.replyTo().tell(new WorkerHost.Registered(self, actors));
                    return Behaviors.same();
                  })
              .build();
        });
  }
}
