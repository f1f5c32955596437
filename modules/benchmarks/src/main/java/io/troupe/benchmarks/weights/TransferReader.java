package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.FetchOutcome;
import io.troupe.weights.transfer.WeightClient;
import io.troupe.weights.transfer.WeightLocator;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A worker of {@code troupe bench weights}. Arguments are the secret, which of a node's workers it
 * is, and of how many. Answers each line: {@code fetch NODE VERSION PLACE} once it has the weights
 * mapped, {@code verify} once it has hashed its share of them.
 */
final class TransferReader {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration CONNECT = Duration.ofSeconds(30);

  private TransferReader() {}

  public static void main(String[] arguments) throws IOException {
    RunSecret secret = RunSecret.of(arguments[0]);
    int share = Integer.parseInt(arguments[1]);
    int shares = Integer.parseInt(arguments[2]);
    Optional<CachedVersion> here = Optional.empty();
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      Map<String, Object> answer = new LinkedHashMap<>();
      if (words[0].equals("fetch")) {
        FetchOutcome.Ready ready =
            fetch(
                secret,
                HostPort.parse(words[1]).socketAddress(),
                Long.parseLong(words[2]),
                words[3]);
        WeightSnapshot mapped = ready.version().map();
        answer.put("digest", mapped.digest());
        answer.put("fetched", ready.report().fetched());
        answer.put("reused", ready.report().reused());
        here = Optional.of(ready.version());
      } else {
        here.orElseThrow().verify(share, shares);
        answer.put("verified", true);
      }
      System.out.println(JSON.writeValueAsString(answer));
    }
  }

  private static FetchOutcome.Ready fetch(
      RunSecret secret, InetSocketAddress node, long version, String text) throws IOException {
    WeightLocator place = WeightLocator.parse(new WeightVersion(version), text);
    FetchOutcome fetched =
        new WeightClient(ConnectionFactory.onLoopback(), node, secret, CONNECT)
            .fetch(place.ref(), place.sourcesOf(Optional.of(node)))
            .toCompletableFuture()
            .join();
    if (fetched instanceof FetchOutcome.Ready ready) {
      return ready;
    }
    throw new IOException("the weights did not come: " + fetched);
  }
}
