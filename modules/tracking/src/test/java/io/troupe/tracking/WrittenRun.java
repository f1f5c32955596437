package io.troupe.tracking;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A run folder that a test writes as a run would: a step ends 1 s after the step before. */
public final class WrittenRun {
  /** The beginning of the run, in milliseconds since 1970. */
  public static final long STARTED = 1_767_322_800_000L;

  private static final long SECOND = 1000;

  private final RunFolder folder;

  private WrittenRun(RunFolder folder) {
    this.folder = folder;
  }

  /** Makes the folder of a run without steps. */
  public static WrittenRun in(Path root) throws IOException {
    Map<String, Object> run =
        Map.of(
            "started",
            "2026-01-02T03:00:00Z",
            "host",
            "head-1",
            "troupe",
            "1.0",
            "git",
            Map.of("commit", "0123456789abcdef", "dirty", true));
    return new WrittenRun(
        RunFolder.create(
            root,
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 0),
            new RunFolder.Contents("a: 1\n".getBytes(UTF_8), "a: 1\n", run, "")));
  }

  public RunFolder folder() {
    return folder;
  }

  /** Writes these steps, each with two rollouts of one group. */
  public WrittenRun steps(int from, int to) throws IOException {
    List<RunJson.Entry> entries = new ArrayList<>();
    for (int step = from; step <= to; step++) {
      Event began = new Event.StepStarted(step, List.of(new GroupId(step + 1)));
      Event event = step == 0 ? new Event.RunStarted() : new Event.StepTrained(step);
      entries.add(
          new RunJson.Entry(atMillis(step), step == 0 ? List.of(event) : List.of(began, event)));
    }
    journal(entries);
    for (int step = from; step <= to; step++) {
      rollout(step);
      row(step);
    }
    return this;
  }

  /** Returns the end of a step, in milliseconds since 1970. */
  public static long atMillis(long step) {
    return STARTED + SECOND * step;
  }

  /** The reward that a step's row has. */
  public static double reward(long step) {
    return step / 64.0;
  }

  /** Writes the end of the run. */
  public WrittenRun end(RunEnd end, long atMillis) throws IOException {
    journal(List.of(new RunJson.Entry(atMillis, List.of(new Event.RunEnded(end)))));
    return this;
  }

  /** Cuts the rows behind a step, as a resume does. */
  public void cutTo(int step) throws IOException {
    List<String> lines = Files.readAllLines(folder.metrics());
    long bytes =
        lines.subList(0, step + 1).stream()
            .mapToLong(line -> line.getBytes(UTF_8).length + 1)
            .sum();
    try (RandomAccessFile file = new RandomAccessFile(folder.metrics().toFile(), "rw")) {
      file.setLength(bytes);
    }
  }

  /** Writes a line into the metrics. */
  void row(String line) throws IOException {
    append(folder.metrics(), line + "\n");
  }

  private void row(int step) throws IOException {
    append(
        folder.metrics(),
        StoreJson.LINE.writeValueAsString(
                Map.of("step", step, "seconds", step + 0.5, "reward", reward(step), "kl", "NaN"))
            + "\n");
  }

  private void rollout(int step) throws IOException {
    append(
        folder.traces().resolve("rollouts.jsonl"),
        ("{\"ts\":1.0,\"prompt_id\":\"p%1$d\",\"group\":%2$d,\"fence\":1,\"prompt\":\"1+%1$d=\","
                + "\"answer\":\"7\",\"completions\":[\"a|b\",\"c\"],\"rewards\":[1.0,0.0],"
                + "\"verdicts\":[\"equal\",\"other\"]}%n")
            .formatted(step, step + 1));
  }

  private static void append(Path file, String line) throws IOException {
    Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private void journal(List<RunJson.Entry> entries) throws IOException {
    try (Journal journal = Journal.open(folder.journal(), JournalSettings.defaults())) {
      journal.append(entries.stream().map(RunJson::encode).toList());
    }
  }
}
