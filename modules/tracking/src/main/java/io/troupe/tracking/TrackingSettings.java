package io.troupe.tracking;

import io.troupe.tracking.feed.RunFeed;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * The settings of a run's trackers.
 *
 * @param to the trackers
 * @param project of the run there
 * @param mlflow the tracking server; not used without {@link TrackerKind#MLFLOW}
 * @param trackio the server; not used without {@link TrackerKind#TRACKIO}
 * @param tables rollouts that are sent
 * @param systemEvery interval of system metrics; zero for none
 * @param atEnd time for which the end waits until everything is sent
 * @param patience time that a server has for one answer
 */
public record TrackingSettings(
    List<TrackerKind> to,
    String project,
    URI mlflow,
    URI trackio,
    RunFeed.Tables tables,
    Duration systemEvery,
    Duration atEnd,
    Duration patience) {
  /** The time that a server has for one answer. */
  public static final Duration PATIENCE = Duration.ofSeconds(30);

  public TrackingSettings {
    to = List.copyOf(to);
  }
}
