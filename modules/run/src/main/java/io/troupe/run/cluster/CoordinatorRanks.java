package io.troupe.run.cluster;

import io.troupe.cluster.NodeListener;
import io.troupe.config.PlacementSection;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.RankRegistry;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.Optional;

/**
 * The registry to which the trainer ranks of the nodes report at the coordinator of a cluster, if
 * nodes start any.
 */
public final class CoordinatorRanks implements AutoCloseable {
  private final RunFolder folder;
  private final PlacementSection placement;
  private final ListenAddress listenAddress;
  private volatile Optional<RankRegistry> registry = Optional.empty();

  /**
   * A registry of a process that may never become coordinator.
   *
   * @param place address at which the registry listens, and the form of connections to it
   */
  public CoordinatorRanks(RunFolder folder, PlacementSection placement, ListenAddress place) {
    this.folder = folder;
    this.placement = placement;
    this.listenAddress = place;
  }

  /** Opens it, now that this process is the coordinator; empty where no node starts a rank. */
  Optional<RankRegistry> open() throws IOException {
    if (placement.ranksOnNodes()) {
      registry =
          Optional.of(
              RankRegistry.open(
                  placement.trainerRanks(),
                  listenAddress.endpoint(),
                  listenAddress.address(),
                  RunSecret.of(RunToken.secret(folder))));
    }
    return registry;
  }

  /** Reports the nodes of the cluster to the registry of ranks. */
  static NodeListener listener(RankRegistry registry) {
    return new NodeListener() {
      @Override
      public void joined(String node) {
        registry.joined(node);
      }

      @Override
      public void left(String node) {
        registry.left(node);
      }

      @Override
      public void stopProcessesWith(ProcessStopper stopper) {
        registry.stopProcessesWith(stopper::stop);
      }
    };
  }

  /** Returns the registry, if it was opened. */
  Optional<RankRegistry> opened() {
    return registry;
  }

  @Override
  public void close() {
    registry.ifPresent(RankRegistry::close);
  }
}
