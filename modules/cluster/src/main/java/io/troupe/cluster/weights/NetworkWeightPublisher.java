package io.troupe.cluster.weights;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
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

/** Publishes weights as files of this host, from which the other nodes fetch them. */
public final class NetworkWeightPublisher implements WeightPublisher, AutoCloseable {
  private final NodeWeights weights;
  private final List<Path> extraFiles;
  private final DType type;
  private final Function<WeightVersion, Relay> relay;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          task -> Thread.ofPlatform().daemon().name("weights-publish").unstarted(task));

  /**
   * The nodes of a transfer.
   *
   * @param nodes their weight servers, in the order of the chain
   * @param doubtful the servers that delayed the last transfer
   */
  public record Relay(List<InetSocketAddress> nodes, Set<InetSocketAddress> doubtful) {}

  /**
   * A publisher.
   *
   * @param weights weights of the publishing host
   * @param extraFiles files that accompany each version, such as config.json and tokenizer.json
   * @param type of the numbers that travel
   * @param relay returns the nodes of a transfer; called at each publication before it is announced
   */
  public NetworkWeightPublisher(
      NodeWeights weights,
      List<Path> extraFiles,
      DType type,
      Function<WeightVersion, Relay> relay) {
    this.weights = weights;
    this.extraFiles = List.copyOf(extraFiles);
    this.type = type;
    this.relay = relay;
  }

  @Override
  public CompletionStage<PublishedWeights> publish(WeightSnapshot snapshot) {
    return CompletableFuture.supplyAsync(() -> published(snapshot), writer);
  }

  private PublishedWeights published(WeightSnapshot snapshot) {
    try {
      CachedVersion version = weights.publish(snapshot, extraFiles, type);
      Relay nodes = relay.apply(snapshot.version());
      WeightLocator locator =
          new WeightLocator(version.ref(), weights.address(), nodes.nodes(), nodes.doubtful());
      return new PublishedWeights(snapshot.version(), snapshot.digest(), locator.format());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Ends the writer thread after the publication in progress. */
  @Override
  public void close() {
    writer.close();
  }
}
