package io.troupe.weights.transfer;

import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.WeightRef;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A node in a process of its own, patient, to be killed while it receives. */
final class ReceivingChild {
  private ReceivingChild() {}

  public static void main(String[] arguments) throws IOException {
    NodeWeights node =
        NodeWeights.open(
            TestVersions.cache(Path.of(arguments[0])),
            ConnectionFactory.onLoopback(),
            TestVersions.loopback(),
            RunSecret.of(arguments[1]),
            new TransferSettings(
                Duration.ofSeconds(60),
                Duration.ofMinutes(5),
                1,
                Duration.ofSeconds(1),
                Duration.ofMinutes(10),
                4,
                16,
                2));
    node.fetch(
            new WeightRef(
                new WeightVersion(Long.parseLong(arguments[2])),
                arguments[3],
                Long.parseLong(arguments[4])),
            List.of(HostPort.parse(arguments[5]).socketAddress()))
        .toCompletableFuture()
        .join();
  }
}
