package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.management.OperatingSystemMXBean;
import io.troupe.core.weights.WeightVersion;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.FetchOutcome;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import io.troupe.weights.transfer.WeightLocator;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A host of {@code troupe bench weights --two-hosts}, with a weight cache of its own. Arguments are
 * its address, its directory, the secret and its threads for deltas. Answers each line:
 *
 * <ul>
 *   <li>{@code publish LAYERS VERSION}: the place of a version that it has written and published
 *   <li>{@code fetch VERSION PLACE}: seconds and bytes, once the version is here; every chunk was
 *       compared with its digest
 *   <li>{@code busy}: seconds of processor time that this host has used
 * </ul>
 */
final class HostNode {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private HostNode() {}

  public static void main(String[] arguments) throws IOException {
    Path root = Files.createDirectories(Path.of(arguments[1]));
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (NodeWeights node =
        NodeWeights.open(
            TransferNode.cache(root.resolve("cache")),
            new ConnectionFactory.Plain(true), // a network of these two hosts alone
            new InetSocketAddress(arguments[0], 0),
            RunSecret.of(arguments[2]),
            TransferSettings.usual(Integer.parseInt(arguments[3])))) {
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        String[] words = line.split(" ", -1);
        Map<String, Object> answer =
            switch (words[0]) {
              case "publish" ->
                  publish(node, root, Integer.parseInt(words[1]), Integer.parseInt(words[2]));
              case "busy" -> Map.of("busy", busy());
              case "fetch" -> fetch(node, Long.parseLong(words[1]), words[2]);
              default -> throw new IOException("no such command: " + line);
            };
        System.out.println(JSON.writeValueAsString(answer));
      }
      node.delete();
    }
  }

  private static Map<String, Object> publish(NodeWeights node, Path root, int layers, int version)
      throws IOException {
    Path model = Files.createDirectory(root.resolve("model" + version));
    MovedWeightsFile.write(model, layers, version);
    CachedVersion made = node.publish(new WeightVersion(version), "version" + version, model);
    Files.delete(model.resolve(SyntheticModelFile.FILE)); // the cache has a link to it
    Files.delete(model);
    String place = new WeightLocator(made.ref(), node.address(), List.of(), Set.of()).format();
    return Map.of("place", place);
  }

  private static Map<String, Object> fetch(NodeWeights node, long version, String text)
      throws IOException {
    WeightLocator place = WeightLocator.parse(new WeightVersion(version), text);
    double busy = busy();
    long start = System.nanoTime();
    FetchOutcome outcome =
        node.fetch(place.ref(), place.sourcesOf(Optional.empty())).toCompletableFuture().join();
    double seconds = (System.nanoTime() - start) / 1e9;
    if (outcome instanceof FetchOutcome.Ready ready) {
      return Map.of("seconds", seconds, "bytes", ready.report().fetched(), "busy", busy() - busy);
    }
    throw new IOException("the weights did not come: " + outcome);
  }

  /** Returns the seconds of processor time that this process has used. */
  private static double busy() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }
}
