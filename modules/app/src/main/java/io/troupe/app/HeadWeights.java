package io.troupe.app;

import io.troupe.app.config.ClusterSection.WeightsBy;
import io.troupe.cluster.Deliveries;
import io.troupe.cluster.FolderWeights;
import io.troupe.cluster.TransferredOutlet;
import io.troupe.cluster.WeightsPlace;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.cluster.weights.AbandonedCaches;
import io.troupe.cluster.weights.CacheSettings;
import io.troupe.cluster.weights.NodeWeights;
import io.troupe.cluster.weights.TransferSettings;
import io.troupe.runtime.WeightOutlet;
import io.troupe.store.RunFolder;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the head of a cluster puts weights: into the run folder, or out to the nodes. */
final class HeadWeights implements AutoCloseable {
  private final RunFolder folder;
  private final WeightsBy by;
  private final WeightsPlace place;
  private final Deliveries deliveries = new Deliveries(InstantSource.system());
  private final Deque<Opened> opened = new ArrayDeque<>();
  private @Nullable WeightOutlet outlet;

  private interface Opened {
    void close() throws IOException;
  }

  /**
   * Weights of a process that may never become head.
   *
   * @param place where it serves them, if it does
   */
  HeadWeights(RunFolder folder, WeightsBy by, WeightsPlace place) {
    this.folder = folder;
    this.by = by;
    this.place = place;
  }

  /** Whether they go over the network. */
  boolean transfers() {
    return by == WeightsBy.TRANSFER;
  }

  /** Who has which weights. */
  Deliveries deliveries() {
    return deliveries;
  }

  /** Opens them, now that this process is the head. */
  void open() throws IOException {
    switch (by) {
      case SHARED -> {
        FolderWeights shared = new FolderWeights(folder.path().resolve("weights"));
        opened.push(shared::close);
        outlet = shared;
      }
      case TRANSFER -> {
        String name = "%s-head-%d".formatted(folder.name(), ProcessHandle.current().pid());
        AbandonedCaches.delete();
        NodeWeights served =
            NodeWeights.open(
                CacheSettings.usual(name, folder.path().resolve("weights")),
                place.endpoint(),
                place.socket(),
                RunSecret.of(RunToken.secret(folder)),
                TransferSettings.usual());
        opened.push(served::delete);
        TransferredOutlet out = new TransferredOutlet(served, List.of(), deliveries::published);
        opened.push(out::close);
        outlet = out;
      }
    }
  }

  /** Where new weights go; after {@link #open}. */
  WeightOutlet outlet() {
    if (outlet == null) {
      throw new IllegalStateException("this process is not the head");
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
