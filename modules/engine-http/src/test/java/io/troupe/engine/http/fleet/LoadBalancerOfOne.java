package io.troupe.engine.http.fleet;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.ToyFixture;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;

/** A fleet of one server, which a script plays, under the toy policy's tokens. */
public final class LoadBalancerOfOne implements AutoCloseable {
  private static final RetryPolicy QUICK =
      new RetryPolicy(50, Duration.ofMillis(1), Duration.ofMillis(50));

  public final ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
  final CompletableFuture<String> broken = new CompletableFuture<>();
  public final FleetSampler fleet;

  /**
   * A fleet without weights.
   *
   * @param folder of the weights that the server reads
   * @param base of the server
   * @param publishing what the server gets
   * @param scores what the run's own policy says
   */
  public LoadBalancerOfOne(
      Path folder, String base, PublishedWeightForm publishing, LocalScorer scores)
      throws IOException {
    this(folder, base, publishing, scores, false);
  }

  /**
   * Creates a load balancer of one server.
   *
   * @param recomputes whether keys and values are to be computed again with new weights
   */
  public LoadBalancerOfOne(
      Path folder,
      String base,
      PublishedWeightForm publishing,
      LocalScorer scores,
      boolean recomputes)
      throws IOException {
    this(folder, base, publishing, scores, recomputes, OptionalDouble.empty());
  }

  /**
   * One server behind a balancer.
   *
   * @param tolerance most nats between server and policy at first; empty without a comparison
   */
  public LoadBalancerOfOne(
      Path folder,
      String base,
      PublishedWeightForm publishing,
      LocalScorer scores,
      boolean recomputes,
      OptionalDouble tolerance)
      throws IOException {
    fleet =
        new FleetSampler(
            new LocalPolicy(
                policy.tokenizer(), policy.contextLength(), scores, recomputes, tolerance),
            ServerWeightFolder.open(
                new ServerWeightFolder.Contents(publishing, 3),
                folder.resolve("servers"),
                _ -> {},
                ServerWeightFolder.WeightFileFinder.none()),
            QUICK,
            ServerSupervisor.listening(broken::complete));
    fleet.join("fake", InferenceEndpoint.of(base, 8));
  }

  /** Weights that differ from version to version. */
  public WeightSnapshot weights(long version) {
    return ToyFixture.weights(policy, version);
  }

  /** Returns the weights of a version with adapters that were merged in. */
  public WeightSnapshot adapted(long version) {
    WeightSnapshot merged = weights(version);
    return merged.with(new Adapter(2, 4, List.of("q_proj"), merged.tensors()));
  }

  /** Returns the servers' name of a version. */
  public String name(long version) {
    return WeightTag.of(new WeightVersion(version), weights(version).digest()).toString();
  }

  public Completion sample(long group) throws Exception {
    return sample(group, new SamplingSettings(1, 20));
  }

  public Completion sample(long group, SamplingSettings settings) throws Exception {
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
