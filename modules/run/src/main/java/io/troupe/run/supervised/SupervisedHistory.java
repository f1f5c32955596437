package io.troupe.run.supervised;

import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedState;
import io.troupe.store.journal.JournalReader;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.state.SupervisedJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The history of a supervised run's journal: its events without those that a later process has made
 * again, because the checkpoint it continued from was before them.
 *
 * @param events in their order
 */
public record SupervisedHistory(List<SupervisedEvent> events) {
  public SupervisedHistory {
    events = List.copyOf(events);
  }

  /**
   * Reads a journal.
   *
   * @param folder a run's {@code journal/}
   */
  public static SupervisedHistory read(Path folder) throws IOException {
    List<SupervisedEvent> events = new ArrayList<>();
    try (JournalReader reader = JournalReader.open(folder)) {
      for (Optional<JournalRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
        String name = "record %d of %s".formatted(next.get().sequence(), reader.file());
        SupervisedEvent event = SupervisedJson.entry(name, next.get().payload()).event();
        if (event instanceof SupervisedEvent.Started started) {
          forget(events, started.from());
        }
        events.add(event);
      }
    }
    return new SupervisedHistory(events);
  }

  /** The history up to a step, with all that is said of it. */
  SupervisedHistory upTo(long step) {
    List<SupervisedEvent> kept = new ArrayList<>(events);
    forget(kept, step);
    return new SupervisedHistory(kept);
  }

  private static void forget(List<SupervisedEvent> events, long step) {
    events.removeIf(
        event -> event instanceof SupervisedEvent.Ended || stepOf(event).orElse(0) > step);
  }

  private static OptionalLong stepOf(SupervisedEvent event) {
    return switch (event) {
      case SupervisedEvent.Started started -> OptionalLong.of(started.from());
      case SupervisedEvent.Stepped(var made) -> OptionalLong.of(made.step());
      case SupervisedEvent.StepSkipped skipped -> OptionalLong.of(skipped.step());
      case SupervisedEvent.Evaluated evaluated -> OptionalLong.of(evaluated.step());
      case SupervisedEvent.CheckpointSaved saved -> OptionalLong.of(saved.step());
      case SupervisedEvent.Ended _ -> OptionalLong.empty();
    };
  }

  /** The last step of any process. */
  long lastStep() {
    return events.stream().mapToLong(event -> stepOf(event).orElse(0)).max().orElse(0);
  }

  /** The digest of the data that the last process trained on; empty before the first. */
  Optional<String> data() {
    return events.reversed().stream()
        .flatMap(
            event ->
                event instanceof SupervisedEvent.Started started
                    ? Optional.of(started.data()).stream()
                    : Optional.<String>empty().stream())
        .findFirst();
  }

  /** The names of what was evaluated after a step. */
  Set<String> evaluatedAt(long step) {
    Set<String> names = new HashSet<>();
    for (SupervisedEvent event : events) {
      if (event instanceof SupervisedEvent.Evaluated evaluated && evaluated.step() == step) {
        names.add(evaluated.name());
      }
    }
    return names;
  }

  /** The state that the events come to. */
  SupervisedState state() {
    SupervisedState state = SupervisedState.INITIAL;
    for (SupervisedEvent event : events) {
      state = state.evolve(event);
    }
    return state;
  }
}
