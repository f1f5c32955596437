package io.troupe.tracking.feed;

import io.troupe.base.failure.Closing;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The facts of a run's journal beside its metrics: when each step ended, which groups it trained
 * on, and how the run ended. Safe for use by several threads.
 */
public final class JournalFacts implements Closeable {
  private final Path folder;
  private final int tablesEvery;
  private final Map<Long, Long> ended = new HashMap<>();
  private final Map<Long, List<GroupId>> groups = new HashMap<>();
  private Optional<RunJournal> journal = Optional.empty();
  private Optional<TrackedEnd> end = Optional.empty();
  private String problem = "";

  /**
   * The facts of a journal that was not read yet.
   *
   * @param tablesEvery the steps whose groups are kept are the multiples of this; 0 for none
   */
  public JournalFacts(Path folder, int tablesEvery) {
    this.folder = folder;
    this.tablesEvery = tablesEvery;
  }

  /**
   * Reads what was written since the last call. A journal that cannot be read costs the exact times
   * of steps and the tables, and is tried again.
   */
  synchronized void refresh() {
    try {
      if (journal.isEmpty()) {
        journal = Optional.of(RunJournal.open(folder));
      }
      RunJournal open = journal.get();
      for (var next = open.next(); next.isPresent(); next = open.next()) {
        RunJson.Entry entry = next.get();
        entry.events().forEach(event -> happened(entry.atMillis(), event));
      }
      problem = "";
    } catch (IOException unreadable) {
      problem = String.valueOf(unreadable.getMessage());
      Closing.quietly(this);
    }
  }

  /** Returns the reason why the journal could not be read the last time; "" if it was. */
  public synchronized String problem() {
    return problem;
  }

  private void happened(long atMillis, Event event) {
    switch (event) {
      case Event.RunStarted _ -> ended.put(0L, atMillis);
      case Event.RunResumed _ -> end = Optional.empty();
      case Event.StepStarted(long step, List<GroupId> of) -> {
        if (tablesEvery > 0 && step % tablesEvery == 0) {
          groups.put(step, of);
        }
      }
      case Event.StepTrained(long step, var _) -> ended.put(step, atMillis);
      case Event.StepSkipped skipped -> ended.put(skipped.step(), atMillis);
      case Event.RunEnded(RunEnd how) -> end = Optional.of(new TrackedEnd(atMillis, kind(how)));
      default -> {}
    }
  }

  private static TrackedEnd.Kind kind(RunEnd end) {
    return switch (end) {
      case RunEnd.Completed _ -> TrackedEnd.Kind.COMPLETED;
      case RunEnd.Interrupted _ -> TrackedEnd.Kind.INTERRUPTED;
      case RunEnd.Failed _ -> TrackedEnd.Kind.FAILED;
    };
  }

  /**
   * Returns the time at which a step ended, in milliseconds since 1970; nothing if the journal
   * begins after it.
   */
  synchronized Optional<Long> endedAtMillis(long step) {
    return Optional.ofNullable(ended.get(step));
  }

  /** The groups that a step trained on; none if they are not kept. */
  synchronized List<GroupId> groups(long step) {
    return groups.getOrDefault(step, List.of());
  }

  /** Returns the end of the run, if it has ended and was not resumed since. */
  public synchronized Optional<TrackedEnd> end() {
    return end;
  }

  @Override
  public synchronized void close() throws IOException {
    if (journal.isPresent()) {
      RunJournal open = journal.get();
      journal = Optional.empty();
      open.close();
    }
  }
}
