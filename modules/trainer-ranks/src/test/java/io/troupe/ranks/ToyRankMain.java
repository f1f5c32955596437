package io.troupe.ranks;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A toy rank's process: address of the coordinator, secret, number, rows of the policy, when it
 * dies, whether it keeps copies.
 */
final class ToyRankMain {
  private ToyRankMain() {}

  static void main(String[] arguments) throws IOException {
    RankWorker.RankIdentity self =
        new RankWorker.RankIdentity(
            Integer.parseInt(arguments[2]),
            "",
            "toy",
            ConnectionFactory.onLoopback(),
            "127.0.0.1",
            RunSecret.of(arguments[1]),
            Duration.ofSeconds(60),
            0,
            Path.of("rank-%s.state".formatted(arguments[2])));
    ToySettings policy =
        new ToySettings("abcdef", 16, 4, Integer.parseInt(arguments[3]), Duration.ZERO);
    DyingRank.Phase phase = DyingRank.Phase.valueOf(arguments[4]);
    try (TrainerRank rank =
            new DyingRank(
                new ToyPolicy(policy).newRank(2),
                phase,
                Path.of("died"),
                Path.of("steps-" + arguments[2]));
        RankWorker host =
            RankWorker.report(
                HostPort.parse(arguments[0]), self, rank, Boolean.parseBoolean(arguments[5]))) {
      (phase == DyingRank.Phase.SENDING ? host.onAnotherHost() : host).work();
    }
  }
}
