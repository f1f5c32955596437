package io.troupe.cluster.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import io.troupe.weights.transfer.WeightClient;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NetworkWeightsTest {
  private static final RunSecret SECRET = RunSecret.random();

  @TempDir Path folder;

  private NodeWeights node(String name) throws IOException {
    return NodeWeights.open(
        new WeightCacheSettings(List.of(folder.resolve(name)), 0, 2, 4096),
        ConnectionFactory.onLoopback(),
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        SECRET,
        TransferSettings.usual());
  }

  private static WeightSnapshot weights(long version) {
    MemorySegment data =
        Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, 1f, 2f, (float) version);
    List<WeightSnapshot.Tensor> tensors =
        List.of(new WeightSnapshot.Tensor("w", List.of(3L), data));
    return new WeightSnapshot(new WeightVersion(version), TensorDigest.of(tensors), tensors);
  }

  @Test
  void fetch_publishedByTheCoordinator_isTheSameInEveryProcessOfEachNode() throws Exception {
    try (NodeWeights coordinator = node("coordinator");
        NodeWeights one = node("one");
        NodeWeights two = node("two");
        NetworkWeightPublisher publisher =
            new NetworkWeightPublisher(
                coordinator,
                List.of(),
                DType.F32,
                _ ->
                    new NetworkWeightPublisher.Relay(
                        List.of(one.address(), two.address()), Set.of()))) {
      WeightSnapshot weights = weights(1);
      PublishedWeights published =
          publisher.publish(weights).toCompletableFuture().get(60, TimeUnit.SECONDS);
      NetworkWeightSource inAgent = new NetworkWeightSource(one, Optional.of(one.address()));
      NetworkWeightSource inWorker =
          new NetworkWeightSource(
              new WeightClient(
                  ConnectionFactory.onLoopback(), two.address(), SECRET, Duration.ofSeconds(60)),
              Optional.of(two.address()));
      for (var stage : List.of(inWorker.fetch(published), inAgent.fetch(published))) {
        WeightSnapshot mapped = stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(mapped.version()).isEqualTo(weights.version());
        assertThat(TensorDigest.of(mapped.tensors())).isEqualTo(weights.digest());
      }
    }
  }

  /** Half the bytes travel; readers get the nearest bfloat16 as float32. */
  @Test
  void publish_inBfloat16_isRoundedOnceAndHalfAsLarge() throws Exception {
    try (NodeWeights coordinator = node("coordinator");
        NodeWeights one = node("one");
        NetworkWeightPublisher publisher =
            new NetworkWeightPublisher(
                coordinator,
                List.of(),
                DType.BF16,
                _ -> new NetworkWeightPublisher.Relay(List.of(one.address()), Set.of()))) {
      WeightSnapshot weights = weights(1);
      PublishedWeights published =
          publisher.publish(weights).toCompletableFuture().get(60, TimeUnit.SECONDS);
      WeightSnapshot mapped =
          new NetworkWeightSource(one, Optional.of(one.address()))
              .fetch(published)
              .toCompletableFuture()
              .get(60, TimeUnit.SECONDS);

      long values = weights.tensors().stream().mapToLong(t -> t.bytes() / Float.BYTES).sum();
      assertThat(coordinator.versions().getFirst().manifest().tensors())
          .allMatch(tensor -> tensor.dtype().equals("BF16"))
          .satisfies(
              all ->
                  assertThat(all.stream().mapToLong(tensor -> tensor.bytes()).sum())
                      .isEqualTo(Short.BYTES * values));
      assertThat(mapped.digest()).isEqualTo(weights.digest());
      for (int i = 0; i < weights.tensors().size(); i++) {
        MemorySegment exact = weights.tensors().get(i).data();
        MemorySegment arrived = mapped.tensors().get(i).data();
        assertThat(arrived.byteSize()).isEqualTo(exact.byteSize());
        for (long at = 0; at < exact.byteSize(); at += Float.BYTES) {
          float value = exact.get(ValueLayout.JAVA_FLOAT, at);
          assertThat(arrived.get(ValueLayout.JAVA_FLOAT, at))
              .isEqualTo(Float.intBitsToFloat(DType.bfloat16(value) << Short.SIZE));
        }
      }
    }
  }

  @Test
  void fetch_fromADeadPublisher_failsAndSaysWhy() throws Exception {
    NodeWeights coordinator = node("coordinator");
    PublishedWeights published;
    try (NetworkWeightPublisher publisher =
        new NetworkWeightPublisher(
            coordinator,
            List.of(),
            DType.F32,
            _ -> new NetworkWeightPublisher.Relay(List.of(), Set.of()))) {
      published = publisher.publish(weights(1)).toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
    coordinator.close();
    try (NodeWeights one = node("one")) {
      NetworkWeightSource source = new NetworkWeightSource(one, Optional.of(one.address()));
      assertThatThrownBy(
              () -> source.fetch(published).toCompletableFuture().get(60, TimeUnit.SECONDS))
          .rootCause()
          .hasMessageContaining("the weights v1 did not come")
          .hasMessageContaining("Connection refused");
    }
  }
}
