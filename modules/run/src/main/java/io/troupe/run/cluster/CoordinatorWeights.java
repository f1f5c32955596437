package io.troupe.run.cluster;

import io.troupe.cluster.WeightDistribution;
import io.troupe.cluster.weights.FolderWeights;
import io.troupe.cluster.weights.NetworkWeightPublisher;
import io.troupe.config.ClusterSection.WeightsBy;
import io.troupe.config.RunConfig;
import io.troupe.engine.safetensors.DType;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.store.folder.RunFolder;
import io.troupe.weights.cache.AbandonedCaches;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The store into which the coordinator of a cluster puts weights: the run folder, or the nodes'
 * caches.
 */
public final class CoordinatorWeights implements AutoCloseable {
  private final RunFolder folder;
  private final WeightsBy by;
  private final int deltaThreads;
  private final DType type;
  private final ListenAddress listenAddress;
  private final WeightDistribution distribution = new WeightDistribution(InstantSource.system());
  private final Deque<Opened> opened = new ArrayDeque<>();
  private @Nullable WeightPublisher outlet;

  private interface Opened {
    void close() throws IOException;
  }

  /**
   * Weights of a process that may never become coordinator.
   *
   * @param config of the run
   * @param place address at which the coordinator serves weights, if it does
   */
  public CoordinatorWeights(RunFolder folder, RunConfig config, ListenAddress place) {
    this.folder = folder;
    this.by = config.cluster().weights();
    this.deltaThreads = config.cluster().deltaThreads();
    this.type = config.publishedType();
    this.listenAddress = place;
  }

  /** Whether weights travel over the network. */
  public boolean transfers() {
    return by == WeightsBy.TRANSFER;
  }

  /** Returns which node has which weights. */
  WeightDistribution distribution() {
    return distribution;
  }

  /** Opens them, now that this process is the coordinator. */
  void open() throws IOException {
    switch (by) {
      case SHARED -> {
        FolderWeights shared = new FolderWeights(folder.path().resolve("weights"), type);
        opened.push(shared::close);
        outlet = shared;
      }
      case TRANSFER -> {
        String name = "%s-coordinator-%d".formatted(folder.name(), ProcessHandle.current().pid());
        AbandonedCaches.delete();
        NodeWeights served =
            NodeWeights.open(
                WeightCacheSettings.usual(name, folder.path().resolve("weights")),
                listenAddress.endpoint(),
                listenAddress.socket(),
                RunSecret.of(RunToken.secret(folder)),
                TransferSettings.usual(deltaThreads));
        opened.push(served::delete);
        NetworkWeightPublisher out =
            new NetworkWeightPublisher(served, List.of(), type, distribution::published);
        opened.push(out::close);
        outlet = out;
      }
    }
  }

  /** Returns the publisher of new weights; after {@link #open}. */
  WeightPublisher outlet() {
    if (outlet == null) {
      throw new IllegalStateException("this process is not the coordinator");
    }
    return outlet;
  }

  @Override
  public void close() throws IOException {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }
}
