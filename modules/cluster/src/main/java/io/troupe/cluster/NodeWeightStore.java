package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.AbandonedCaches;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The weights of the run a node works for: each version comes here once, and all workers of the
 * node map it. There is one run at a time, and its weights are deleted with it.
 */
public final class NodeWeightStore implements AutoCloseable {
  private final String node;
  private final ListenAddress listenAddress;
  private Optional<NodeWeights> open = Optional.empty();

  /**
   * A depot that holds nothing.
   *
   * @param node its name, unique on the host
   * @param place where it serves
   */
  public NodeWeightStore(String node, ListenAddress place) {
    this.node = node;
    this.listenAddress = place;
  }

  /**
   * Opens it for a run; what it held of another one is deleted.
   *
   * @param disk a folder for what does not fit into memory
   * @param arrivals told how each transfer ended; must not block
   * @return where this host's processes, and other nodes, ask for weights
   */
  public synchronized HostPort open(
      String run, Path disk, RunSecret secret, BiConsumer<WeightRef, FetchOutcome> arrivals)
      throws IOException {
    close();
    AbandonedCaches.delete();
    NodeWeights opened =
        NodeWeights.open(
            WeightCacheSettings.usual(run + "-" + node, disk),
            listenAddress.endpoint(),
            listenAddress.socket(),
            secret,
            TransferSettings.usual(),
            arrivals);
    open = Optional.of(opened);
    return new HostPort(listenAddress.address().host(), opened.address().getPort());
  }

  /** Ends the service and deletes what it held. */
  @Override
  public synchronized void close() throws IOException {
    Optional<NodeWeights> before = open;
    open = Optional.empty();
    if (before.isPresent()) {
      before.get().delete();
    }
  }
}
