package io.troupe.cli.node;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.base.build.BuildId;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.JoinGate;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.config.ClusterSection;
import io.troupe.config.RunConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe drain-node}: lets a node finish its work and leave. */
@Command(
    name = "drain-node",
    description =
        "Drains a node of a cluster: no new groups, those in flight finish or move to others, then"
            + " it leaves.",
    footer = {"", "Example:", "  troupe drain-node b --seed 127.0.0.1:7400"})
public final class DrainNodeCommand extends CliCommand {
  private static final Duration ANSWER = Duration.ofSeconds(10);

  @Parameters(index = "0", paramLabel = "NODE", description = "Its name.")
  private String node = "";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Takes the name of the cluster and its keys from section cluster.")
  private @Nullable Path config;

  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Override
  public Integer call() throws Exception {
    if (cluster.seeds().isEmpty()) {
      throw refused("give the --seed of a process of the cluster");
    }
    Optional<ClusterSection> section =
        Optional.ofNullable(config).map(file -> RunConfig.load(file, List.of()).config().cluster());
    ClusterSettings settings =
        cluster.settings(
            ClusterSettings.ClusterRole.NODE,
            ClusterSettings.MIN_FRAME_BYTES,
            section.map(ClusterSection::tls).orElse(""),
            System.err::println);
    ClusterIdentity pass =
        new ClusterIdentity(
            section.map(ClusterSection::name).orElse("troupe"), BuildId.ofThisProcess());
    ActorSystem<Void> system =
        ActorSystem.create(Behaviors.empty(), ClusterSettings.SYSTEM_NAME, settings.config());
    try {
      return ask(system, pass);
    } finally {
      system.terminate();
    }
  }

  private int ask(ActorSystem<Void> system, ClusterIdentity pass) throws InterruptedException {
    HostPort seed = cluster.seeds().getFirst();
    try {
      JoinGate.Reply answer =
          AskPattern.<JoinGate.Command, JoinGate.Reply>ask(
                  ClusterJoin.gateAt(system, seed),
                  replyTo -> new JoinGate.DrainNode(pass, node, replyTo),
                  ANSWER,
                  system.scheduler())
              .toCompletableFuture()
              .get();
      return switch (answer) {
        case JoinGate.Accepted(String text) -> {
          System.out.println(text);
          yield ExitCode.OK.code();
        }
        case JoinGate.Rejected(String reason) -> refuse(reason);
        case JoinGate.NotAMember _ -> refuse("%s is in no cluster".formatted(seed));
      };
    } catch (ExecutionException silent) {
      return refuse(
          "no node named %s answered through %s within %d s; the node's own first lines have its name"
              .formatted(node, seed, ANSWER.toSeconds()));
    }
  }

  private static int refuse(String reason) {
    System.err.println("error: " + reason);
    return ExitCode.UNREACHABLE.code();
  }
}
