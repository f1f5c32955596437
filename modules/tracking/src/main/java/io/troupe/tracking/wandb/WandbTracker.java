package io.troupe.tracking.wandb;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.hash.Sha256;
import io.troupe.store.file.StoreJson;
import io.troupe.telemetry.export.ProtobufMessage;
import io.troupe.tracking.feed.Batch;
import io.troupe.tracking.feed.RolloutTable;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.TrackedEnd;
import io.troupe.tracking.feed.TrackedRow;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A run in the offline file of Weights and Biases, {@code wandb/offline-run-TIME-ID/run-ID.wandb}.
 * A run that continues uses the same file: the record of its end is cut off, and so is the mark
 * that {@code wandb sync} has uploaded the file, because a second upload of the same lines replaces
 * the first one.
 */
public final class WandbTracker implements Tracker {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final String ROLLOUTS = "rollouts";
  private static final int HASH = 20;
  private static final int ID = 16;

  private final RunFacts facts;
  private final String id;
  private final Path folder;
  private Optional<WandbLog> log = Optional.empty();
  private long number;
  private Map<String, String> last = Map.of();

  /**
   * A tracker that was not opened yet.
   *
   * @param wandb the folder that holds the runs' folders; made if absent
   */
  public WandbTracker(Path wandb, RunFacts facts) {
    this.facts = facts;
    this.id = id(facts);
    this.folder =
        wandb.resolve(
            "offline-run-%s-%s"
                .formatted(STAMP.format(Instant.ofEpochMilli(facts.startedMillis())), id));
  }

  /** An id of the run, the same in every process, and another one for a run of the same name. */
  private static String id(RunFacts facts) {
    String unique = "%s %d %s".formatted(facts.name(), facts.startedMillis(), facts.host());
    return Sha256.hex(unique.getBytes(UTF_8)).substring(0, ID);
  }

  @Override
  public TrackerCursor open(TrackerCursor cursor) throws IOException {
    close();
    Files.createDirectories(folder.resolve("files"));
    Path file = folder.resolve("run-%s.wandb".formatted(id));
    boolean known = cursor.remote().equals(id) && Files.isRegularFile(file);
    if (cursor.step() >= 0 && !known) {
      throw new IOException(
          "%s is gone, which has the steps up to %d; restore it, or delete the tracker's cursor to"
                  .formatted(file, cursor.step())
              + " write it again");
    }
    for (String mark : List.of("synced", "syncstate")) {
      Files.deleteIfExists(folder.resolve("run-%s.wandb.%s".formatted(id, mark)));
    }
    WandbLog open = WandbLog.open(file, known ? cursor.length() : 0);
    log = Optional.of(open);
    number = cursor.step() < 0 ? 0 : 3L * (cursor.step() + 1); // Numbers ascend; gaps do no harm.
    if (!known) {
      add(WandbRecords.header(BuildInfo.version()));
      add(WandbRecords.run(id, facts));
    }
    return cursor.named(id).upTo(open.sync()).afterDescription().continued();
  }

  @Override
  public TrackerCursor send(Batch batch) throws IOException {
    WandbLog out = log.orElseThrow();
    Deque<RolloutTable> tables = new ArrayDeque<>(batch.tables());
    for (TrackedRow row : batch.rows()) {
      Map<String, String> values = new LinkedHashMap<>();
      row.values().forEach((name, value) -> values.put(name, Double.toString(value)));
      last = Map.copyOf(values);
      // Steps ascend, so that a table is in the row of the step after its own.
      if (!tables.isEmpty() && tables.getFirst().step() < row.step()) {
        values.put(ROLLOUTS, write(tables.removeFirst()));
      }
      add(WandbRecords.history(row.step(), row.atMillis(), facts.startedMillis(), values));
    }
    for (RolloutTable table : tables) {
      Map<String, String> value = Map.of(ROLLOUTS, write(table));
      long step = batch.next().step();
      add(WandbRecords.history(step, table.atMillis(), facts.startedMillis(), value));
    }
    for (SystemSample sample : batch.samples()) {
      add(WandbRecords.stats(sample));
    }
    long whole = out.sync();
    for (TrackedEnd end : batch.ends()) {
      add(WandbRecords.summary(last));
      add(
          WandbRecords.exit(
              end.kind() == TrackedEnd.Kind.FAILED ? 1 : 0,
              end.atMillis() - facts.startedMillis()));
      out.sync();
    }
    return batch.next().upTo(whole); // A run that continues has no end.
  }

  /** Writes a table as a file of the run, and returns the value of the history that names it. */
  private String write(RolloutTable table) throws IOException {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("columns", RolloutTable.COLUMNS);
    content.put("data", table.rows());
    byte[] bytes = StoreJson.LINE.writeValueAsBytes(content);
    String hash = Sha256.hex(bytes);
    String path =
        "media/table/rollouts_%d_%s.table.json".formatted(table.step(), hash.substring(0, HASH));
    Path file = folder.resolve("files").resolve(path);
    Files.createDirectories(file.getParent());
    AtomicFile.replace(file, bytes);
    add(WandbRecords.file(path));
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("_type", "table-file");
    value.put("path", path);
    value.put("sha256", hash);
    value.put("size", bytes.length);
    value.put("ncols", RolloutTable.COLUMNS.size());
    value.put("nrows", table.rows().size());
    return StoreJson.LINE.writeValueAsString(value);
  }

  private void add(ProtobufMessage record) {
    number++;
    log.orElseThrow().add(new ProtobufMessage().varint(1, number).append(record).toBytes());
  }

  @Override
  public void close() throws IOException {
    if (log.isPresent()) {
      log.get().close();
      log = Optional.empty();
    }
  }
}
