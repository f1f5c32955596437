package io.troupe.run.fork;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.runtime.Recorder;
import io.troupe.runtime.TraceFiles;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.state.RunJson;
import io.troupe.telemetry.StepMeter;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The files of a fork: its parent's up to the step, and behind them what the fork does. Times of
 * the journal continue from the parent's record of the step.
 */
final class ForkRecord implements AutoCloseable {
  private static final int RECORDS_AT_ONCE = 1_000;

  private final Journal journal;
  private final JsonLinesFile metrics;
  private final TraceFiles traces;
  private final StepMeter meter = new StepMeter(0);
  private final long beganMillis;
  private long millis;
  private Optional<StepMeter.Reading> reading = Optional.empty();

  /**
   * The place where a run's journal is cut.
   *
   * @param records that are taken whole
   * @param atMillis of the record of the step, since 1970
   * @param last events of that record, up to the step's
   */
  record Cut(long step, long records, long atMillis, List<Event> last) {
    /** Behind the last time that a run trained a step; none if it has no such step. */
    static Optional<Cut> behind(RunFolder folder, long step) throws IOException {
      Optional<Cut> found = Optional.empty();
      try (RunJournal journal = RunJournal.open(folder.journal())) {
        long records = 0;
        Optional<RunJson.Entry> next = journal.next();
        while (next.isPresent()) {
          List<Event> events = next.get().events();
          int at = indexOf(events, step);
          if (at >= 0) {
            found =
                Optional.of(
                    new Cut(step, records, next.get().atMillis(), events.subList(0, at + 1)));
          }
          records++;
          next = journal.next();
        }
      }
      return found;
    }

    private static int indexOf(List<Event> events, long step) {
      for (int i = 0; i < events.size(); i++) {
        if (events.get(i) instanceof Event.StepTrained(long trained, var _) && trained == step) {
          return i;
        }
      }
      return -1;
    }
  }

  private ForkRecord(
      Journal journal, RunFolder fork, PromptPool pool, long beganMillis, Consumer<String> say)
      throws IOException {
    this.journal = journal;
    this.beganMillis = beganMillis;
    this.metrics = JsonLinesFile.open(fork.metrics(), Duration.ZERO, say);
    this.traces = TraceFiles.open(fork.traces(), pool, () -> millis, say);
  }

  /**
   * Copies the parent's part, and opens the rest.
   *
   * @param each takes the events of each record of the parent
   * @param say takes a sentence when a line of metrics or traces cannot be written
   */
  static ForkRecord open(
      RunFolder parent,
      RunFolder fork,
      Cut cut,
      PromptPool pool,
      Consumer<List<Event>> each,
      Consumer<String> say)
      throws IOException {
    Journal journal = Journal.open(fork.journal(), JournalSettings.defaults());
    try {
      Set<LeaseId> scored = copy(parent, journal, cut, each);
      lines(parent.metrics(), fork.metrics(), line -> line.path("step").asLong() <= cut.step);
      for (String name : List.of("trained.1.jsonl", "trained.jsonl")) {
        lines(
            parent.traces().resolve(name),
            fork.traces().resolve(name),
            line -> line.path("step").asLong() <= cut.step);
      }
      for (String name : List.of("rollouts.1.jsonl", "rollouts.jsonl")) {
        lines(
            parent.traces().resolve(name),
            fork.traces().resolve(name),
            line -> scored.contains(lease(line)));
      }
      return new ForkRecord(journal, fork, pool, cut.atMillis, say);
    } catch (IOException | RuntimeException failure) {
      journal.close();
      throw failure;
    }
  }

  private static LeaseId lease(JsonNode line) {
    return new LeaseId(new GroupId(line.path("group").asLong()), line.path("fence").asLong());
  }

  /** Copies the records, and returns the leases of the groups that were scored. */
  private static Set<LeaseId> copy(
      RunFolder parent, Journal journal, Cut cut, Consumer<List<Event>> each) throws IOException {
    Set<LeaseId> scored = new HashSet<>();
    List<byte[]> chunk = new ArrayList<>();
    try (RunJournal recorded = RunJournal.open(parent.journal())) {
      for (long record = 0; record <= cut.records; record++) {
        RunJson.Entry entry =
            record < cut.records
                ? recorded.next().orElseThrow()
                : new RunJson.Entry(cut.atMillis, cut.last);
        each.accept(entry.events());
        for (Event event : entry.events()) {
          switch (event) {
            case Event.GroupBuffered(var summary) -> scored.add(summary.lease());
            case Event.GroupFiltered(var summary) -> scored.add(summary.lease());
            default -> {} // No other scores a group.
          }
        }
        chunk.add(RunJson.encode(entry));
        if (chunk.size() == RECORDS_AT_ONCE || record == cut.records) {
          journal.append(chunk);
          chunk.clear();
        }
      }
    }
    return scored;
  }

  /** Copies the lines that a rule takes; a run may not have the file. */
  private static void lines(Path from, Path to, Predicate<JsonNode> rule) throws IOException {
    if (!Files.isReadable(from)) {
      return;
    }
    try (BufferedReader lines = Files.newBufferedReader(from);
        BufferedWriter out = Files.newBufferedWriter(to)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (rule.test(StoreJson.LINE.readTree(line))) {
          out.write(line);
          out.newLine();
        }
      }
    }
  }

  /** The place behind the last record. */
  JournalPosition position() {
    return journal.position();
  }

  /** Takes the texts and verdicts of a group. */
  void judged(Recorder.Judged judged) {
    traces.rollout(judged);
  }

  /** Takes what a step measured, before its event. */
  void trained(long step, TrainerTasks.WeightsUpdated updated) {
    traces.trained(step, updated.groups());
    reading = Optional.of(updated.metrics().reading());
  }

  /** Takes the events of a decision, in milliseconds of virtual time behind the step. */
  void decided(long now, RunState state, List<Event> events) {
    millis = now;
    try {
      journal.append(List.of(RunJson.encode(new RunJson.Entry(beganMillis + now, events))));
    } catch (IOException unwritten) {
      throw new UncheckedIOException(unwritten);
    }
    for (Event event : events) {
      if (event instanceof Event.StepTrained(long step, var _)) {
        metrics.write(
            meter
                .row(step, reading.orElseThrow(), StepMeter.Verification.NONE, Double.NaN, now)
                .toMap());
      }
      meter.event(event);
      traces.event(event, state.version());
    }
    meter.observe(state, now);
  }

  @Override
  public void close() throws IOException {
    traces.close();
    metrics.close();
    journal.close();
  }
}
