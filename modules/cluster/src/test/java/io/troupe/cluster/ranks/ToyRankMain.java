package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import java.io.IOException;
import java.time.Duration;

/** A toy rank's process: address of the head, secret, number. */
final class ToyRankMain {
  static final ToySettings POLICY = new ToySettings("abcdef", 16, 4, 7, Duration.ZERO);

  private ToyRankMain() {}

  static void main(String[] arguments) throws IOException {
    try (RankHost host =
        RankHost.report(
            HostPort.parse(arguments[0]),
            arguments[1],
            Integer.parseInt(arguments[2]),
            new ToyPolicy(POLICY).newRank(2),
            Duration.ofSeconds(60))) {
      host.work();
    }
  }
}
