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

/** Maps weights that this host's cache holds, or fetches first: once, however many ask. */
public final class NetworkWeightSource implements WeightSource {
  private final WeightProvider supply;
  private static final int KNOWN = 4;

  private final Optional<InetSocketAddress> node;
  private final Map<PublishedAs, Path> directories = new LinkedHashMap<>(); // guarded by itself

  private record PublishedAs(WeightVersion version, String digest) {}

  /**
   * A source.
   *
   * @param supply the host's cache itself, or a client of the process that owns it
   * @param node the address of this host's weight server, which finds it in the relay
   */
  public NetworkWeightSource(WeightProvider supply, Optional<InetSocketAddress> node) {
    this.supply = supply;
    this.node = node;
  }

  /** The stage fails when no source could give the weights, or they are not what was announced. */
  @Override
  public CompletionStage<WeightSnapshot> fetch(PublishedWeights weights) {
    WeightLocator place = WeightLocator.parse(weights.version(), weights.place());
    return fetch(weights, place, place.sourcesOf(node));
  }

  private CompletionStage<WeightSnapshot> fetch(
      PublishedWeights weights, WeightLocator place, List<InetSocketAddress> sources) {
    return supply
        .fetch(place.ref(), sources)
        .thenCompose(
            fetched ->
                switch (fetched) {
                  case FetchOutcome.Ready(var version, var _) -> map(weights, version);
                  case FetchOutcome.Failed(var reason, var _) -> failed(weights, reason);
                  // Another worker of this host wants newer ones; they come first, then these.
                  case FetchOutcome.Superseded(var by) ->
                      supply.fetch(by, sources).thenCompose(_ -> fetch(weights, place, sources));
                });
  }

  /** Where weights lie that were fetched lately; newer ones may have taken their place. */
  public Optional<Path> directory(WeightVersion version, String digest) {
    synchronized (directories) {
      return Optional.ofNullable(directories.get(new PublishedAs(version, digest)));
    }
  }

  private void remember(WeightSnapshot mapped, Path directory) {
    synchronized (directories) {
      directories.put(new PublishedAs(mapped.version(), mapped.digest()), directory);
      if (directories.size() > KNOWN) {
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
