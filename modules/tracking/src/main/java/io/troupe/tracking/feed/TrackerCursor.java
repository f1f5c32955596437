package io.troupe.tracking.feed;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The place up to which a tracker has a run: {@code tracking/NAME.json}. It is replaced after the
 * tracker has taken a batch, so that a batch that was interrupted is sent again.
 *
 * @param format of the file
 * @param step the last one sent; -1 before the first
 * @param system bytes of {@code tracking/system.jsonl} sent
 * @param table the last step whose table was sent, or has none
 * @param remote the run's id there, or the name of its file
 * @param length bytes of that file that hold what was sent
 * @param described whether the run's name, configuration and origin were sent
 * @param endedAtMillis the end that was sent; 0 for none
 */
public record TrackerCursor(
    int format,
    long step,
    long system,
    long table,
    String remote,
    long length,
    boolean described,
    long endedAtMillis) {
  private static final int FORMAT = 1;

  /** The cursor of a tracker that has nothing. */
  public static final TrackerCursor START = new TrackerCursor(FORMAT, -1, 0, 0, "", 0, false, 0);

  /** Reads a cursor; {@link #START} if there is no file. */
  public static TrackerCursor read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return START;
    }
    JsonNode json = StoreJson.LINE.readTree(Files.readAllBytes(file));
    FormatVersions.check(
        file, json, FORMAT, "delete it, and the tracker gets the run a second time");
    return StoreJson.LINE.treeToValue(json, TrackerCursor.class);
  }

  /** Writes the cursor, durable when it returns. */
  public void write(Path file) throws IOException {
    AtomicFile.replace(file, StoreJson.PRETTY.writeValueAsBytes(this));
  }

  /** This position with the run's id there. */
  public TrackerCursor named(String id) {
    return new TrackerCursor(format, step, system, table, id, length, described, endedAtMillis);
  }

  /** This position with the length of the file that holds what was sent. */
  public TrackerCursor upTo(long bytes) {
    return new TrackerCursor(format, step, system, table, remote, bytes, described, endedAtMillis);
  }

  /** This position once the run's name, configuration and origin were sent. */
  public TrackerCursor afterDescription() {
    return new TrackerCursor(format, step, system, table, remote, length, true, endedAtMillis);
  }

  /** This position of a run that continues after an end that was sent. */
  public TrackerCursor continued() {
    return new TrackerCursor(format, step, system, table, remote, length, described, 0);
  }

  /** This position with what a tracker keeps in its cursor. */
  TrackerCursor keeping(TrackerCursor opened, boolean end) {
    return new TrackerCursor(
        format,
        step,
        system,
        table,
        opened.remote,
        opened.length,
        opened.described,
        end ? opened.endedAtMillis : endedAtMillis);
  }

  TrackerCursor at(long nextStep, long nextSystem, long nextTable, long end) {
    return new TrackerCursor(
        format, nextStep, nextSystem, nextTable, remote, length, described, end);
  }
}
