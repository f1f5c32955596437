package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.tracking.TrackerKind;
import io.troupe.tracking.TrackingSettings;
import io.troupe.tracking.feed.RunFeed;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/** The keys of the trackers that {@code tracking} lists. */
public record TrackersSection(
    @Doc("Project of W&B and Trackio, and experiment of MLflow, that the run is in.")
        @Default("troupe")
        String project,
    @Doc(
            "Tracking server of MLflow, such as `http://127.0.0.1:5000`; its keys come from"
                + " MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD.")
        @Default("")
        String mlflowUrl,
    @Doc("Server of Trackio; its key comes from TRACKIO_WRITE_TOKEN.")
        @Default("http://127.0.0.1:7860")
        String trackioUrl,
    @Doc(
            value =
                "Rollouts that are sent as a table, of each step that is a multiple of"
                    + " rollouts_every.",
            unit = "rollouts")
        @Default("16")
        @Range(min = 1, max = 1000)
        int rollouts,
    @Doc(value = "Interval of the tables of rollouts; 0 sends none.", unit = "steps")
        @Default("10")
        @Range(min = 0, max = 1_000_000)
        int rolloutsEvery,
    @Doc("Interval of the coordinator's host's system metrics; 0s sends none.")
        @Default("15s")
        @Range(min = 0)
        Duration systemEvery,
    @Doc("How long the end of the run waits until everything is sent.")
        @Default("30s")
        @Range(min = 0)
        Duration atEnd)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("project")
        .require(
            () -> project.matches("[\\w.-]{1,128}"),
            "must be a name of letters, digits, _, . and -",
            "write for example troupe");
    rules
        .on("mlflow_url")
        .require(
            () -> mlflowUrl.isEmpty() || isServer(mlflowUrl),
            "must be an address",
            "write for example http://127.0.0.1:5000");
    rules
        .on("trackio_url")
        .require(
            () -> isServer(trackioUrl),
            "must be an address",
            "write for example http://127.0.0.1:7860");
  }

  private static boolean isServer(String url) {
    return url.matches("https?://[\\w.:\\[\\]-]+(/[\\w./%~-]*)?");
  }

  /**
   * The settings of a run's trackers.
   *
   * @param to the trackers
   */
  public TrackingSettings settings(List<TrackerKind> to) {
    return new TrackingSettings(
        to,
        project,
        server(mlflowUrl),
        server(trackioUrl),
        new RunFeed.Tables(rolloutsEvery, rollouts),
        systemEvery,
        atEnd,
        TrackingSettings.PATIENCE);
  }

  private static URI server(String url) {
    return URI.create(url.replaceFirst("/+$", ""));
  }
}
