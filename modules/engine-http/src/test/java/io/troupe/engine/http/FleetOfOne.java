package io.troupe.engine.http;

import io.troupe.core.rollout.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Adapter;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.WeightSnapshot.Tensor;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.WeightTag;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A fleet of one server, which a script plays, under the toy policy's tokens. */
final class FleetOfOne implements AutoCloseable {
  private static final Retry QUICK = new Retry(50, Duration.ofMillis(1), Duration.ofMillis(50));

  final ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
  final CompletableFuture<String> broken = new CompletableFuture<>();
  final FleetSampler fleet;

  /**
   * A fleet without weights.
   *
   * @param folder of its shelf
   * @param base of the server
   * @param publishing what the server gets
   * @param scores what the run's own policy says
   */
  FleetOfOne(Path folder, String base, Publishing publishing, OwnScores scores) throws IOException {
    this(folder, base, publishing, scores, false);
  }

  /**
   * The same.
   *
   * @param recomputes whether keys and values are to be computed again with new weights
   */
  FleetOfOne(Path folder, String base, Publishing publishing, OwnScores scores, boolean recomputes)
      throws IOException {
    fleet =
        new FleetSampler(
            new OwnPolicy(policy.tokenizer(), policy.contextLength(), scores, recomputes),
            WeightShelf.open(
                new WeightShelf.Contents(publishing, 3),
                folder.resolve("shelf"),
                _ -> {},
                WeightShelf.Lying.nowhere()),
            QUICK,
            Keeper.hearing(broken::complete));
    fleet.join("fake", Endpoint.of(base, 8));
  }

  /** Weights that differ from version to version. */
  WeightSnapshot weights(long version) {
    return ToyFixture.weights(policy, version);
  }

  /** The same, with adapters that were merged in. */
  WeightSnapshot adapted(long version) {
    WeightSnapshot merged = weights(version);
    return merged.with(new Adapter(2, 4, List.of("q_proj"), merged.tensors()));
  }

  /** Of the same names, with adapters that change a matrix from version 1 on. */
  WeightSnapshot adding(long version) {
    WeightSnapshot named = weights(version);
    Tensor matrix = floats("q_proj.weight", List.of(2L, 2L), 1, 2, 3, 4);
    Tensor down = floats("base_model.model.q_proj.lora_A.weight", List.of(1L, 2L), 1, 1);
    Tensor up =
        floats("base_model.model.q_proj.lora_B.weight", List.of(2L, 1L), (float) version, 0);
    return new WeightSnapshot(
        named.version(),
        named.digest(),
        List.of(matrix),
        new Adapter(1, 1, List.of("q_proj"), List.of(down, up)));
  }

  private static Tensor floats(String name, List<Long> shape, float... values) {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new Tensor(name, shape, MemorySegment.ofBuffer(bytes));
  }

  /** By what servers know a version. */
  String name(long version) {
    return WeightTag.of(new WeightVersion(version), weights(version).digest()).toString();
  }

  Completion draw(long group) throws Exception {
    return draw(group, new SamplingSettings(1, 20));
  }

  Completion draw(long group, SamplingSettings settings) throws Exception {
    SampleRequest plain = FleetSamplerTest.request(group, 1);
    return Await.value(
            fleet
                .sample(
                    List.of(
                        new SampleRequest(
                            plain.lease(), plain.prompt(), 1, settings, plain.seed())))
                .getFirst())
        .getFirst();
  }

  @Override
  public void close() {
    fleet.close();
    policy.close();
  }
}
