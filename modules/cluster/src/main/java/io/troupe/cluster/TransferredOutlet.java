package io.troupe.cluster;

import io.troupe.cluster.weights.CachedVersion;
import io.troupe.cluster.weights.NodeWeights;
import io.troupe.cluster.weights.WeightPlace;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;
import io.troupe.runtime.PublishedWeights;
import io.troupe.runtime.WeightOutlet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** Publishes weights as files of this host, from where the other nodes pull them. */
public final class TransferredOutlet implements WeightOutlet, AutoCloseable {
  private final NodeWeights weights;
  private final List<Path> beside;
  private final Function<WeightVersion, Relay> relay;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          task -> Thread.ofPlatform().daemon().name("weights-publish").unstarted(task));

  /**
   * Who takes part in a transfer.
   *
   * @param nodes their servers, in the order of the chain
   * @param doubtful those that held up the last one
   */
  public record Relay(List<InetSocketAddress> nodes, Set<InetSocketAddress> doubtful) {}

  /**
   * An outlet.
   *
   * @param weights of the host that publishes
   * @param beside files that go with each version, such as config.json and tokenizer.json
   * @param relay asked at each publication, before it is announced
   */
  public TransferredOutlet(
      NodeWeights weights, List<Path> beside, Function<WeightVersion, Relay> relay) {
    this.weights = weights;
    this.beside = List.copyOf(beside);
    this.relay = relay;
  }

  @Override
  public CompletionStage<PublishedWeights> publish(WeightSnapshot snapshot) {
    return CompletableFuture.supplyAsync(() -> published(snapshot), writer);
  }

  private PublishedWeights published(WeightSnapshot snapshot) {
    try {
      CachedVersion version = weights.publish(snapshot, beside);
      Relay now = relay.apply(snapshot.version());
      WeightPlace place =
          new WeightPlace(version.ref(), weights.address(), now.nodes(), now.doubtful());
      return new PublishedWeights(snapshot.version(), snapshot.digest(), place.text());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Ends the writer; what is being published is finished. */
  @Override
  public void close() {
    writer.close();
  }
}
