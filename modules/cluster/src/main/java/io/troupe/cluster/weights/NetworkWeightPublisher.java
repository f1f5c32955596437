package io.troupe.cluster.weights;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.WeightLocator;
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
public final class NetworkWeightPublisher implements WeightPublisher, AutoCloseable {
  private final NodeWeights weights;
  private final List<Path> extraFiles;
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
  public NetworkWeightPublisher(
      NodeWeights weights, List<Path> beside, Function<WeightVersion, Relay> relay) {
    this.weights = weights;
    this.extraFiles = List.copyOf(beside);
    this.relay = relay;
  }

  @Override
  public CompletionStage<PublishedWeights> publish(WeightSnapshot snapshot) {
    return CompletableFuture.supplyAsync(() -> published(snapshot), writer);
  }

  private PublishedWeights published(WeightSnapshot snapshot) {
    try {
      CachedVersion version = weights.publish(snapshot, extraFiles);
      Relay now = relay.apply(snapshot.version());
      WeightLocator place =
          new WeightLocator(version.ref(), weights.address(), now.nodes(), now.doubtful());
      return new PublishedWeights(snapshot.version(), snapshot.digest(), place.format());
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
