package io.troupe.tracking;

import io.troupe.tracking.feed.RunFeed;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * How a run is tracked.
 *
 * @param to the trackers
 * @param project of the run there
 * @param mlflow the tracking server; not used without {@link TrackerKind#MLFLOW}
 * @param trackio the server; not used without {@link TrackerKind#TRACKIO}
 * @param tables which rollouts are sent
 * @param systemEvery interval of system metrics; zero for none
 * @param atEnd how long the end waits until everything is sent
 * @param patience how long a server may take for one answer
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
  /** How long a server may take for one answer. */
  public static final Duration PATIENCE = Duration.ofSeconds(30);

  public TrackingSettings {
    to = List.copyOf(to);
  }
}
