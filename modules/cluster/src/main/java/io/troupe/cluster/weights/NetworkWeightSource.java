package io.troupe.cluster.weights;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightSource;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.FetchOutcome;
import io.troupe.weights.transfer.WeightLocator;
import io.troupe.weights.transfer.WeightProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Maps weights from this host's cache, which fetches each version once for all workers. */
public final class NetworkWeightSource implements WeightSource {
  private final WeightProvider provider;
  private static final int MAX_DIRECTORIES = 4;

  private final Optional<InetSocketAddress> node;
  private final Map<PublishedAs, Path> directories = new LinkedHashMap<>(); // guarded by itself

  private record PublishedAs(WeightVersion version, String digest) {}

  /**
   * A source.
   *
   * @param provider the host's cache, or a client of the process that owns it
   * @param node address of this host's weight server, by which the relay plan contains it
   */
  public NetworkWeightSource(WeightProvider provider, Optional<InetSocketAddress> node) {
    this.provider = provider;
    this.node = node;
  }

  /**
   * Completes exceptionally if no source delivers the weights, or if their digest differs from the
   * announced one.
   */
  @Override
  public CompletionStage<WeightSnapshot> fetch(PublishedWeights weights) {
    WeightLocator locator = WeightLocator.parse(weights.version(), weights.place());
    return fetch(weights, locator, locator.sourcesOf(node));
  }

  private CompletionStage<WeightSnapshot> fetch(
      PublishedWeights weights, WeightLocator locator, List<InetSocketAddress> sources) {
    return provider
        .fetch(locator.ref(), sources)
        .thenCompose(
            fetched ->
                switch (fetched) {
                  case FetchOutcome.Ready(var version, var _) -> map(weights, version);
                  case FetchOutcome.Failed(var reason, var _) -> failed(weights, reason);
                  // Another worker of this host requested newer weights; they are fetched first.
                  case FetchOutcome.Superseded(var by) ->
                      provider
                          .fetch(by, sources)
                          .thenCompose(_ -> fetch(weights, locator, sources));
                });
  }

  /** The directory of recently fetched weights; newer weights may have replaced them. */
  public Optional<Path> directory(WeightVersion version, String digest) {
    synchronized (directories) {
      return Optional.ofNullable(directories.get(new PublishedAs(version, digest)));
    }
  }

  private void remember(WeightSnapshot mapped, Path directory) {
    synchronized (directories) {
      directories.put(new PublishedAs(mapped.version(), mapped.digest()), directory);
      if (directories.size() > MAX_DIRECTORIES) {
        directories.remove(directories.keySet().iterator().next());
      }
    }
  }

  private CompletionStage<WeightSnapshot> map(PublishedWeights weights, CachedVersion version) {
    try {
      WeightSnapshot mapped = version.map();
      remember(mapped, version.directory());
      return mapped.digest().equals(weights.digest())
          ? CompletableFuture.completedFuture(mapped)
          : failed(
              weights,
              "their tensors have digest %s, not %s".formatted(mapped.digest(), weights.digest()));
    } catch (IOException failure) {
      return CompletableFuture.failedFuture(new CompletionException(failure));
    }
  }

  private static CompletionStage<WeightSnapshot> failed(PublishedWeights weights, String reason) {
    return CompletableFuture.failedFuture(
        new IOException("the weights %s did not come: %s".formatted(weights.version(), reason)));
  }
}
