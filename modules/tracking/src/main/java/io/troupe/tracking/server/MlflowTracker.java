package io.troupe.tracking.server;

import io.troupe.store.file.StoreJson;
import io.troupe.telemetry.export.MlflowClient;
import io.troupe.telemetry.export.MlflowClient.Point;
import io.troupe.telemetry.export.ServerRefusedException;
import io.troupe.tracking.feed.Batch;
import io.troupe.tracking.feed.RolloutTable;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.TrackedEnd;
import io.troupe.tracking.feed.TrackedRow;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A run on an MLflow tracking server. The run there is found again by a tag; values carry the
 * journal's times, so that those that are sent twice are kept once.
 */
public final class MlflowTracker implements Tracker {
  private static final String RUN_TAG = "troupe.run";
  private static final int BAD_REQUEST = 400;
  private static final long MILLIS = 1000;

  private final MlflowClient server;
  private final RunFacts facts;
  private final Consumer<String> say;
  private boolean refusesFiles;

  /**
   * A tracker that was not opened yet.
   *
   * @param server closed with this
   * @param say takes a sentence about what is left out
   */
  public MlflowTracker(MlflowClient server, RunFacts facts, Consumer<String> say) {
    this.server = server;
    this.facts = facts;
    this.say = say;
  }

  @Override
  public TrackerCursor open(TrackerCursor cursor) throws IOException, InterruptedException {
    TrackerCursor open = cursor;
    if (cursor.remote().isEmpty()) {
      String experiment = server.experiment(facts.project());
      String identity = "%s@%d".formatted(facts.name(), facts.startedMillis());
      Optional<String> found = server.find(experiment, RUN_TAG, identity);
      open = cursor.named(found.isPresent() ? found.get() : create(experiment, identity));
    }
    if (!open.described()) {
      try {
        server.parameters(open.remote(), facts.config());
      } catch (ServerRefusedException refused) {
        if (refused.status() != BAD_REQUEST) {
          throw refused;
        }
        // A former process sent another configuration, which MLflow never changes.
        say.accept("MLflow does not take the configuration: " + refused.getMessage());
      }
    }
    server.continues(open.remote());
    return open.afterDescription().continued();
  }

  private String create(String experiment, String identity)
      throws IOException, InterruptedException {
    Map<String, String> tags = new LinkedHashMap<>();
    tags.put(RUN_TAG, identity);
    tags.put("mlflow.source.name", "troupe");
    if (!facts.commit().isEmpty()) {
      tags.put("mlflow.source.git.commit", facts.commit());
    }
    facts.origin().forEach((key, value) -> tags.put("troupe." + key, value));
    return server.create(experiment, facts.name(), facts.startedMillis(), tags);
  }

  @Override
  public TrackerCursor send(Batch batch) throws IOException, InterruptedException {
    String run = batch.next().remote();
    List<Point> points = new ArrayList<>();
    for (TrackedRow row : batch.rows()) {
      row.values()
          .forEach((key, value) -> points.add(new Point(key, value, row.atMillis(), row.step())));
    }
    for (SystemSample sample : batch.samples()) {
      long second = Math.max(0, (sample.at() - facts.startedMillis()) / MILLIS);
      sample
          .values()
          .forEach((key, value) -> points.add(new Point(key, value, sample.at(), second)));
    }
    server.metrics(run, points);
    for (RolloutTable table : batch.tables()) {
      store(run, table);
    }
    for (TrackedEnd end : batch.ends()) {
      server.ended(run, status(end.kind()), end.atMillis());
    }
    return batch.next();
  }

  private void store(String run, RolloutTable table) throws IOException, InterruptedException {
    if (refusesFiles) {
      return;
    }
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("columns", RolloutTable.COLUMNS);
    content.put("data", table.rows());
    refusesFiles =
        !server.artifact(
            run,
            "rollouts/step%06d.json".formatted(table.step()),
            StoreJson.LINE.writeValueAsBytes(content));
    if (refusesFiles) {
      say.accept(
          "MLflow keeps files of this run elsewhere and does not take them itself; rollouts are not"
              + " sent (start it with --serve-artifacts)");
    }
  }

  private static MlflowClient.Status status(TrackedEnd.Kind kind) {
    return switch (kind) {
      case COMPLETED -> MlflowClient.Status.FINISHED;
      case INTERRUPTED -> MlflowClient.Status.KILLED;
      case FAILED -> MlflowClient.Status.FAILED;
    };
  }

  @Override
  public void close() {
    // The client is used again when the tracker is opened again, and ends with the process.
  }
}
