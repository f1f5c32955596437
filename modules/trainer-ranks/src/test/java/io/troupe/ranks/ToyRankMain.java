package io.troupe.ranks;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A toy rank's process: address of the head, secret, number. */
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
    try (TrainerRank rank = new ToyPolicy(ToySteps.POLICY).newRank(2);
        RankWorker host = RankWorker.report(HostPort.parse(arguments[0]), self, rank)) {
      host.work();
    }
  }
}
