package io.troupe.gym.session;

import io.troupe.gym.loop.GymEvent;
import io.troupe.gym.loop.GymLoop;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalReader;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.segment.JournalRecord;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * The journal of a gym and the state that it folds into. An append is on the disk when it returns;
 * only then does the state change.
 */
public final class GymJournal implements Closeable {
  private final Journal journal;
  private final Clock clock;
  private GymState state;

  private GymJournal(Journal journal, Clock clock, GymState state) {
    this.journal = journal;
    this.clock = clock;
    this.state = state;
  }

  /** Opens a journal for writing, and folds what it holds. */
  public static GymJournal open(Path folder, GymPlan plan, Clock clock) throws IOException {
    Journal journal = Journal.open(folder, JournalSettings.defaults());
    try {
      return new GymJournal(journal, clock, read(folder, plan));
    } catch (IOException | RuntimeException failure) {
      journal.close();
      throw failure;
    }
  }

  /** Returns the state that a journal folds into; a process may be writing it. */
  public static GymState read(Path folder, GymPlan plan) throws IOException {
    GymState state = GymState.of(plan);
    try (JournalReader reader = JournalReader.open(folder)) {
      for (Optional<JournalRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
        String where = "record %d of %s".formatted(next.get().sequence(), reader.file());
        for (GymEvent event : GymJson.decode(where, next.get().payload())) {
          state = GymLoop.evolve(state, event);
        }
      }
    }
    return state;
  }

  public GymState state() {
    return state;
  }

  /** Writes the events of one decision as one record, and folds them. */
  public void append(List<GymEvent> events) throws IOException {
    long _ = journal.append(List.of(GymJson.encode(clock.millis(), events)));
    journal.sync();
    for (GymEvent event : events) {
      state = GymLoop.evolve(state, event);
    }
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
