package io.troupe.app;

import io.troupe.app.config.RunConfig;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.ranks.RankHost;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.parallel.TrainerRank;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code troupe trainer-rank}: one data-parallel rank of a trainer in a JVM of its own. The head of
 * the run starts it, and it ends with its standard input, which is a pipe from the head.
 */
@Command(
    name = "trainer-rank",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "A trainer's rank; the head of a run starts it.")
final class TrainerRankCommand implements Callable<Integer> {
  /** Environment variable with what it proves itself with to the head. */
  static final String SECRET = "TROUPE_RANK_SECRET";

  @Option(names = "--run-folder", required = true, paramLabel = "DIR", description = "Of the run.")
  private @Nullable Path folder;

  @Option(names = "--head", required = true, paramLabel = "HOST:PORT", description = "Of the run.")
  private String head = "";

  @Option(names = "--rank", required = true, paramLabel = "N", description = "Number, from 0.")
  private int rank;

  @Override
  public Integer call() throws Exception {
    AgentWatch.start(() -> {}); // There is nothing to drain: its work is the head's.
    var _ = Signals.install(TrainerRankCommand::onSignal, TrainerRankCommand::onSignal);
    Path run = Objects.requireNonNull(folder);
    RunConfig config = RunConfig.load(run.resolve("resolved.yaml"), List.of()).config();
    Composition composition = Composition.of(config, run.resolve("checkpoints"));
    try (PolicyEngines engines = composition.engines();
        TrainerRank trained = engines.newRank(config.placement().trainerRanks());
        RankHost host =
            RankHost.report(
                HostPort.parse(head),
                new RankHost.Self(
                    rank,
                    "",
                    "trainer-rank-" + rank,
                    Endpoint.onLoopback(),
                    InetAddress.getLoopbackAddress().getHostAddress(),
                    RunSecret.of(System.getenv().getOrDefault(SECRET, "")),
                    Composition.RANK_DEADLINE),
                trained)) {
      host.work();
    }
    return ExitCode.OK.code();
  }

  /** A terminal sends ^C to the head's children, too; the head needs its ranks to drain. */
  private static void onSignal(int number) {
    if (number != Signals.SIGINT) {
      Runtime.getRuntime().halt(ExitCode.ofSignal(number));
    }
  }
}
