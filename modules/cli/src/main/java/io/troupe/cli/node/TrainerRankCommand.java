package io.troupe.cli.node;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ParentWatch;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cluster.ClusterSettings;
import io.troupe.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.RankAgent;
import io.troupe.ranks.RankWorker;
import io.troupe.run.compose.ChildSecrets;
import io.troupe.run.compose.Composition;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe trainer-rank}: one data-parallel rank of a trainer in a JVM of its own. The
 * coordinator of the run starts it, or the agent of a node; it ends with its standard input, which
 * is a pipe from the process that did.
 */
@Command(
    name = "trainer-rank",
    hidden = true,
    description = "A trainer's rank; the coordinator of a run or the agent of a node starts it.")
public final class TrainerRankCommand extends CliCommand {
  @Option(names = "--run-folder", required = true, paramLabel = "DIR", description = "Of the run.")
  private @Nullable Path folder;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Resolved run; by default the one in the run folder.")
  private @Nullable Path config;

  @Option(
      names = "--coordinator",
      paramLabel = "HOST:PORT",
      description = "Of the run; by default what the agent says, from time to time.")
  private @Nullable String coordinator;

  @Option(names = "--rank", required = true, paramLabel = "N", description = "Number, from 0.")
  private int rank;

  @Option(names = "--node", paramLabel = "NAME", description = "Whose agent starts it.")
  private String node = "";

  @Option(names = "--name", paramLabel = "NAME", description = "Of the process.")
  private String name = "";

  @Option(
      names = "--ranks-on-node",
      paramLabel = "N",
      description = "Ranks on this host, which share policy.trainer_threads; by default all.")
  private int ranksOnNode;

  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Override
  public Integer call() throws Exception {
    CompletableFuture<RankAgent> post = new CompletableFuture<>();
    ParentWatch.start(
        // The coordinator makes the step again without this rank.
        () -> Runtime.getRuntime().halt(ExitCode.OK.code()),
        to -> {
          var _ = post.thenAccept(own -> own.setCoordinator(HostPort.parse(to)));
        });
    var _ = Signals.install(TrainerRankCommand::onSignal, TrainerRankCommand::onSignal);
    Path run = Objects.requireNonNull(folder);
    Path resolved = config == null ? run.resolve("resolved.yaml") : config;
    RunConfig settings = RunConfig.load(resolved, List.of()).config();
    RunSecret secret = RunSecret.of(System.getenv().getOrDefault(ChildSecrets.RANK, ""));
    Composition composition = Composition.of(settings, run.resolve("checkpoints"));
    boolean keepsCopies = settings.placement().rankCopies();
    int sharing = ranksOnNode > 0 ? ranksOnNode : settings.placement().trainerRanks();
    try (PolicyEngines engines = composition.rankEngines();
        TrainerRank trained = engines.newRank(sharing)) {
      if (coordinator == null) {
        Path logs = Objects.requireNonNull(resolved.toAbsolutePath().getParent());
        RankAgent own =
            new RankAgent(
                identityOnNode(settings, composition, secret, logs), trained, keepsCopies);
        post.complete(own);
        own.work();
      } else {
        try (RankWorker host =
            RankWorker.report(
                HostPort.parse(coordinator),
                identityBesideCoordinator(run, secret),
                trained,
                keepsCopies)) {
          host.work();
        }
      }
    }
    return ExitCode.OK.code();
  }

  private RankWorker.RankIdentity identityBesideCoordinator(Path run, RunSecret secret) {
    return new RankWorker.RankIdentity(
        rank,
        "",
        "trainer-rank-" + rank,
        ConnectionFactory.onLoopback(),
        InetAddress.getLoopbackAddress().getHostAddress(),
        secret,
        Composition.RANK_DEADLINE,
        0,
        scratch(run.resolve("ranks"), "trainer-rank-" + rank));
  }

  private RankWorker.RankIdentity identityOnNode(
      RunConfig run, Composition composition, RunSecret secret, Path logs) throws IOException {
    ClusterSettings settings =
        cluster.settings(
            ClusterSettings.ClusterRole.NODE,
            composition.frameBytes(),
            run.cluster().tls(),
            System.err::println);
    ListenAddress place = cluster.ranks();
    return new RankWorker.RankIdentity(
        rank,
        node,
        name,
        place.endpoint(),
        settings.address().host(),
        secret,
        Composition.RANK_DEADLINE,
        place.address().port(),
        scratch(logs, name));
  }

  /** Beside its log. */
  private static Path scratch(Path folder, String process) {
    return folder.toAbsolutePath().resolve(process + ".state");
  }

  /**
   * The coordinator needs its ranks to drain. A system without sessions sends them a terminal's ^C,
   * too.
   */
  private static void onSignal(int number) {
    if (number != Signals.SIGINT) {
      Runtime.getRuntime().halt(ExitCode.ofSignal(number));
    }
  }
}
