package io.troupe.tracking.server;

import io.troupe.store.file.StoreJson;
import io.troupe.telemetry.export.ExportClient;
import io.troupe.tracking.feed.Batch;
import io.troupe.tracking.feed.RolloutTable;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.TrackedRow;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A run on a Trackio server. Each entry has an id of its own, so that one that is sent twice is
 * kept once. The server gives entries its own time of arrival; their steps are exact.
 */
public final class TrackioTracker implements Tracker {
  private static final String TOKEN = "X-Trackio-Write-Token";

  private final URI base;
  private final String token;
  private final ExportClient server;
  private final RunFacts facts;

  /**
   * A tracker that was not opened yet.
   *
   * @param token that allows writing; "" for none
   * @param server at {@code base}; closed by its owner
   */
  public TrackioTracker(URI base, String token, ExportClient server, RunFacts facts) {
    this.base = base;
    this.token = token;
    this.server = server;
    this.facts = facts;
  }

  @Override
  public TrackerCursor open(TrackerCursor cursor) {
    return cursor.named("%s@%d".formatted(facts.name(), facts.startedMillis())).continued();
  }

  @Override
  public TrackerCursor send(Batch batch) throws IOException, InterruptedException {
    String run = batch.next().remote();
    List<Map<String, Object>> logs = new ArrayList<>();
    for (TrackedRow row : batch.rows()) {
      logs.add(entry(run, "row", row.step(), new LinkedHashMap<>(row.values())));
    }
    for (RolloutTable table : batch.tables()) {
      logs.add(entry(run, "rollouts", table.step(), Map.of("rollouts", table(table))));
    }
    if (!logs.isEmpty()) {
      if (!batch.next().described()) {
        Map<String, String> config = new LinkedHashMap<>(facts.config());
        facts.origin().forEach((key, text) -> config.put("origin." + key, text));
        logs.getFirst().put("config", config);
      }
      post("bulk_log", logs);
    }
    if (!batch.samples().isEmpty()) {
      List<Map<String, Object>> samples = new ArrayList<>();
      for (SystemSample sample : batch.samples()) {
        samples.add(sample(run, sample));
      }
      post("bulk_log_system", samples);
    }
    return logs.isEmpty() ? batch.next() : batch.next().afterDescription();
  }

  private Map<String, Object> entry(
      String run, String kind, long step, Map<String, Object> metrics) {
    Map<String, Object> entry = of(run);
    entry.put("metrics", metrics);
    entry.put("step", step);
    entry.put("log_id", "%s:%s:%d".formatted(run, kind, step));
    return entry;
  }

  private Map<String, Object> sample(String run, SystemSample sample) {
    Map<String, Object> entry = of(run);
    entry.put("metrics", sample.values());
    entry.put("timestamp", Instant.ofEpochMilli(sample.at()).toString());
    entry.put("log_id", "%s:system:%d".formatted(run, sample.at()));
    return entry;
  }

  private Map<String, Object> of(String run) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("project", facts.project());
    entry.put("run", facts.name());
    entry.put("run_id", run);
    return entry;
  }

  private static Map<String, Object> table(RolloutTable table) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (List<Object> row : table.rows()) {
      Map<String, Object> cells = new LinkedHashMap<>();
      for (int i = 0; i < row.size(); i++) {
        cells.put(RolloutTable.COLUMNS.get(i), row.get(i));
      }
      rows.add(cells);
    }
    return Map.of("_type", "trackio.table", "_value", rows);
  }

  private void post(String call, List<Map<String, Object>> logs)
      throws IOException, InterruptedException {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("logs", logs);
    body.put("hf_token", null);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("%s/api/%s".formatted(base, call)))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(StoreJson.LINE.writeValueAsBytes(body)));
    if (!token.isEmpty()) {
      request.header(TOKEN, token);
    }
    server.accepted(call, server.send(request));
  }

  @Override
  public void close() {
    // The client is used again when the tracker is opened again, and ends with the process.
  }
}
