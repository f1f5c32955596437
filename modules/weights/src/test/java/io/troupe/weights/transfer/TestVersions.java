package io.troupe.weights.transfer;

import io.troupe.base.hash.Sha256;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.WeightCacheSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Small weights, and nodes that lose patience with nobody or quickly. */
final class TestVersions {
  static final int CHUNK = 4096;
  static final RunSecret SECRET = RunSecret.random();

  private TestVersions() {}

  /** Tensors of random numbers; those named in {@code changed} have others for each version. */
  static WeightSnapshot weights(long seed, long version, int tensors, int... changed) {
    List<WeightSnapshot.Tensor> list = new ArrayList<>();
    for (int i = 0; i < tensors; i++) {
      int index = i;
      boolean moves = java.util.Arrays.stream(changed).anyMatch(c -> c == index);
      SplittableRandom random = new SplittableRandom(seed * 31 + i + (moves ? version * 1009 : 0));
      int rows = 1 + new SplittableRandom(seed + i).nextInt(4000);
      MemorySegment data = Arena.ofAuto().allocate((long) rows * Float.BYTES, 8);
      for (int r = 0; r < rows; r++) {
        data.setAtIndex(ValueLayout.JAVA_FLOAT, r, (float) random.nextDouble());
      }
      list.add(new WeightSnapshot.Tensor("t%03d".formatted(i), List.of((long) rows), data));
    }
    return new WeightSnapshot(new WeightVersion(version), TensorDigest.of(list), list);
  }

  static WeightCacheSettings cache(Path root) {
    return new WeightCacheSettings(List.of(root), 0, 2, CHUNK);
  }

  /** Whether a source is slow is nothing to these; they wait a moment for what is on its way. */
  static TransferSettings patient() {
    return settings(Duration.ofSeconds(60), Duration.ofMillis(100));
  }

  /** A source that is silent for so long is left. */
  static TransferSettings quick(Duration stall) {
    return settings(stall, Duration.ofMillis(100));
  }

  static TransferSettings settings(Duration stall, Duration relayWait) {
    return new TransferSettings(
        Duration.ofSeconds(60), stall, 1, relayWait, Duration.ofSeconds(120), 4, 16, 2);
  }

  static NodeWeights node(Path root) throws IOException {
    return node(root, patient());
  }

  static NodeWeights node(Path root, TransferSettings settings) throws IOException {
    return NodeWeights.open(
        cache(root), ConnectionFactory.onLoopback(), loopback(), SECRET, settings);
  }

  static InetSocketAddress loopback() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  /** SHA-256 of every file of a directory. */
  static Map<String, String> content(Path directory) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        content.put(file.toFile().getName(), Sha256.hex(Files.readAllBytes(file)));
      }
    }
    return content;
  }
}
