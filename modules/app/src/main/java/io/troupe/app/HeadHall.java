package io.troupe.app;

import io.troupe.app.config.PlacementSection;
import io.troupe.cluster.NodeListener;
import io.troupe.cluster.WeightsPlace;
import io.troupe.cluster.ranks.RankHall;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.store.RunFolder;
import java.io.IOException;
import java.util.Optional;

/** Where the trainer ranks of the nodes report to the head of a cluster, if nodes start any. */
final class HeadHall implements AutoCloseable {
  private final RunFolder folder;
  private final PlacementSection placement;
  private final WeightsPlace place;
  private volatile Optional<RankHall> hall = Optional.empty();

  /**
   * A hall of a process that may never become head.
   *
   * @param place where it listens, and how connections to it are made
   */
  HeadHall(RunFolder folder, PlacementSection placement, WeightsPlace place) {
    this.folder = folder;
    this.placement = placement;
    this.place = place;
  }

  /** Opens it, now that this process is the head; empty where no node starts a rank. */
  Optional<RankHall> open() throws IOException {
    if (placement.ranksOnNodes()) {
      hall =
          Optional.of(
              RankHall.open(
                  placement.trainerRanks(),
                  place.endpoint(),
                  place.address(),
                  RunSecret.of(RunToken.secret(folder))));
    }
    return hall;
  }

  /** What tells the ranks which nodes there are. */
  static NodeListener listener(RankHall hall) {
    return new NodeListener() {
      @Override
      public void joined(String node) {
        hall.joined(node);
      }

      @Override
      public void left(String node) {
        hall.left(node);
      }

      @Override
      public void stopProcessesWith(ProcessStopper stopper) {
        hall.endBy(stopper::stop);
      }
    };
  }

  /** What was opened. */
  Optional<RankHall> opened() {
    return hall;
  }

  @Override
  public void close() {
    hall.ifPresent(RankHall::close);
  }
}
