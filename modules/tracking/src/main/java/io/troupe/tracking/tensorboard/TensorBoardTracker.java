package io.troupe.tracking.tensorboard;

import io.troupe.telemetry.export.TensorBoardFile;
import io.troupe.tracking.feed.Batch;
import io.troupe.tracking.feed.RolloutTable;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.TrackedRow;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run in event files of a folder. Every process makes a file of its own, because a TensorBoard
 * keeps its place in the file that it reads: what the former process wrote beyond its cursor is cut
 * off, and written again into the new file.
 */
public final class TensorBoardTracker implements Tracker {
  private static final double MILLIS = 1000;

  private final Path folder;
  private final RunFacts facts;
  private Optional<TensorBoardFile> file = Optional.empty();

  /**
   * A tracker that was not opened yet.
   *
   * @param folder made if absent
   */
  public TensorBoardTracker(Path folder, RunFacts facts) {
    this.folder = folder;
    this.facts = facts;
  }

  @Override
  public TrackerCursor open(TrackerCursor cursor) throws IOException {
    Files.createDirectories(folder);
    close();
    cut(cursor);
    long seconds = Math.round(Math.floor(System.currentTimeMillis() / MILLIS));
    String name = TensorBoardFile.name(seconds);
    while (Files.exists(folder.resolve(name))) {
      seconds++;
      name = TensorBoardFile.name(seconds);
    }
    TensorBoardFile made = TensorBoardFile.create(folder, name, (double) seconds);
    file = Optional.of(made);
    if (!cursor.described()) {
      double started = facts.startedMillis() / MILLIS;
      made.text(started, 0, "config", block(facts.config()));
      made.text(started, 0, "origin", block(facts.origin()));
    }
    return cursor.named(name).upTo(made.sync()).afterDescription().continued();
  }

  /** Cuts the former process's file behind what its cursor has. */
  private void cut(TrackerCursor cursor) throws IOException {
    Path former = folder.resolve(cursor.remote());
    if (!cursor.remote().isEmpty() && Files.isRegularFile(former)) {
      try (FileChannel channel = FileChannel.open(former, StandardOpenOption.WRITE)) {
        channel.truncate(cursor.length());
        channel.force(true);
      }
    }
  }

  @Override
  public TrackerCursor send(Batch batch) throws IOException {
    TensorBoardFile out = file.orElseThrow();
    for (RolloutTable table : batch.tables()) {
      out.text(table.atMillis() / MILLIS, table.step(), "rollouts", markdown(table));
    }
    for (TrackedRow row : batch.rows()) {
      out.numbers(row.atMillis() / MILLIS, row.step(), row.values());
    }
    for (SystemSample sample : batch.samples()) {
      long second = Math.max(0, (sample.at() - facts.startedMillis()) / (long) MILLIS);
      out.numbers(sample.at() / MILLIS, second, sample.values());
    }
    return batch.next().upTo(out.sync());
  }

  private static String block(Map<String, String> texts) {
    StringBuilder markdown = new StringBuilder();
    texts.forEach(
        (key, value) ->
            markdown.append("    %s: %s%n".formatted(key, value.replace("\n", "\n    "))));
    return markdown.toString();
  }

  private static String markdown(RolloutTable table) {
    List<String> lines = new ArrayList<>();
    lines.add("| " + String.join(" | ", RolloutTable.COLUMNS) + " |");
    lines.add("|" + " --- |".repeat(RolloutTable.COLUMNS.size()));
    for (List<Object> row : table.rows()) {
      lines.add(
          "| %s |"
              .formatted(
                  String.join(
                      " | ",
                      row.stream()
                          .map(cell -> cell.toString().replace("|", "\\|").replace("\n", "<br>"))
                          .toList())));
    }
    return String.join("\n", lines);
  }

  @Override
  public void close() throws IOException {
    if (file.isPresent()) {
      file.get().close();
      file = Optional.empty();
    }
  }
}
