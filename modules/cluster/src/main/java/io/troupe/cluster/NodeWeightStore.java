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
 * The weights on a node of the run that it works for: each version is transferred once, and all
 * workers of the node map it. It serves one run at a time and deletes the weights when the run
 * ends.
 */
public final class NodeWeightStore implements AutoCloseable {
  private final String node;
  private final ListenAddress listenAddress;
  private Optional<NodeWeights> open = Optional.empty();

  /**
   * An empty store.
   *
   * @param node name of the node, unique on the host
   * @param listenAddress address of the node's weight server
   */
  public NodeWeightStore(String node, ListenAddress listenAddress) {
    this.node = node;
    this.listenAddress = listenAddress;
  }

  /**
   * Opens the store for a run and deletes the weights of the former run.
   *
   * @param disk folder for weights that do not fit into memory
   * @param settings of the transfers
   * @param onTransfer called with the outcome of every transfer; must not block
   * @return the address of the weight server, for this host's processes and other nodes
   */
  public synchronized HostPort open(
      String run,
      Path disk,
      RunSecret secret,
      TransferSettings settings,
      BiConsumer<WeightRef, FetchOutcome> onTransfer)
      throws IOException {
    close();
    AbandonedCaches.delete();
    NodeWeights opened =
        NodeWeights.open(
            WeightCacheSettings.usual(run + "-" + node, disk),
            listenAddress.endpoint(),
            listenAddress.socket(),
            secret,
            settings,
            onTransfer);
    open = Optional.of(opened);
    return new HostPort(listenAddress.address().host(), opened.address().getPort());
  }

  /** Stops the weight server and deletes the weights. */
  @Override
  public synchronized void close() throws IOException {
    Optional<NodeWeights> former = open;
    open = Optional.empty();
    if (former.isPresent()) {
      former.get().delete();
    }
  }
}
