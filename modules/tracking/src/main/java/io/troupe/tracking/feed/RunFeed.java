package io.troupe.tracking.feed;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.export.MetricGroups;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The content of a run's folder for one tracker, in batches behind the tracker's cursor. */
public final class RunFeed {
  /** The file of system metrics, in the run's {@code tracking/}. */
  public static final String SYSTEM = "system.jsonl";

  private static final int MOST = 200;
  private static final int MOST_TABLES = 16;
  private static final double MILLIS = 1000;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final JournalFacts journal;
  private final RunFacts facts;
  private final Path system;
  private final GrowingLines metrics;
  private final RolloutFiles rollouts;
  private final Tables tables;
  private long newest = -1;

  /**
   * The rollouts that are sent.
   *
   * @param every the steps are the multiples of this; 0 sends none
   * @param rows of each step at most
   */
  public record Tables(int every, int rows) {}

  /**
   * A feed that was not read yet.
   *
   * @param journal of the run, shared with other feeds
   */
  public RunFeed(RunFolder folder, RunFacts facts, JournalFacts journal, Tables tables) {
    this.journal = journal;
    this.facts = facts;
    this.tables = tables;
    this.metrics = new GrowingLines(folder.metrics(), 0);
    this.system = folder.path().resolve("tracking").resolve(SYSTEM);
    this.rollouts = new RolloutFiles(folder.traces());
  }

  /**
   * Returns the batch behind a cursor. A step that was sent is not sent again when a resume makes
   * it again.
   *
   * @param last whether the run's process has ended, so that nothing more is written
   * @throws IOException if a file cannot be read, or a line is damaged; the next call reads again
   *     what was read for this batch
   */
  public Batch next(TrackerCursor cursor, boolean last) throws IOException {
    try {
      return read(cursor, last);
    } catch (IOException | RuntimeException failure) {
      metrics.restart(); // Rows that were read are in no batch.
      throw failure;
    }
  }

  private Batch read(TrackerCursor cursor, boolean last) throws IOException {
    List<TrackedRow> rows = rows(cursor.step());
    GrowingLines lines = new GrowingLines(system, cursor.system());
    List<SystemSample> samples = new ArrayList<>();
    for (String line : lines.next(MOST)) {
      samples.add(SystemSample.parse(line));
    }
    long table = cursor.table();
    List<RolloutTable> found = new ArrayList<>();
    while (isDue(table + tables.every(), last) && found.size() < MOST_TABLES) {
      table += tables.every();
      addTable(found, table);
    }
    boolean ends = last && rows.isEmpty() && samples.isEmpty() && table == cursor.table();
    List<TrackedEnd> end =
        ends
            ? journal.end().filter(e -> e.atMillis() != cursor.endedAtMillis()).stream().toList()
            : List.of();
    return new Batch(
        rows,
        samples,
        found,
        end,
        cursor.at(
            rows.isEmpty() ? cursor.step() : rows.getLast().step(),
            lines.offset(),
            table,
            end.isEmpty() ? cursor.endedAtMillis() : end.getFirst().atMillis()));
  }

  /** Whether the rollouts of a step are written: the next step has ended, or the run has. */
  private boolean isDue(long step, boolean last) {
    return tables.every() > 0 && (step < newest || (last && step == newest));
  }

  private void addTable(List<RolloutTable> found, long step) throws IOException {
    List<List<Object>> rows = rollouts.rows(step, journal.groups(step), tables.rows());
    if (!rows.isEmpty()) {
      found.add(new RolloutTable(step, atMillis(step, 0), rows));
    }
  }

  private List<TrackedRow> rows(long after) throws IOException {
    List<TrackedRow> rows = new ArrayList<>();
    List<String> lines = nextLines();
    while (!lines.isEmpty() && rows.isEmpty()) {
      for (String line : lines) {
        Map<String, Object> row = parse(line);
        long step = step(row);
        newest = Math.max(newest, step);
        if (step > after) {
          double seconds = row.get("seconds") instanceof Number number ? number.doubleValue() : 0;
          rows.add(new TrackedRow(step, atMillis(step, seconds), MetricGroups.numbers(row)));
        }
      }
      lines = rows.isEmpty() ? nextLines() : List.of();
    }
    return rows;
  }

  /** Rows are read before the journal, because a step is in the journal before its row is made. */
  private List<String> nextLines() throws IOException {
    List<String> lines = metrics.next(MOST);
    journal.refresh();
    return lines;
  }

  private static Map<String, Object> parse(String line) throws IOException {
    return JSON.readValue(line, new TypeReference<>() {});
  }

  private static long step(Map<String, Object> row) throws IOException {
    if (row.get("step") instanceof Number step) {
      return step.longValue();
    }
    throw new IOException("a row of the metrics has no number as its step: " + row);
  }

  /** The journal's time; where it begins later, the start of the run and the row's own seconds. */
  private long atMillis(long step, double seconds) {
    Optional<Long> ended = journal.endedAtMillis(step);
    return ended.orElseGet(() -> facts.startedMillis() + Math.round(MILLIS * seconds));
  }
}
