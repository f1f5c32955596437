package io.troupe.store.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.store.segment.JournalPosition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes the golden files of {@link FormatsTest} for a new version of a format. */
final class GoldenFormats {
  private static final int HISTORIES = 40;

  private GoldenFormats() {}

  /** Takes the folder of the golden files. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    List<String> lines = new ArrayList<>();
    Set<Class<?>> seen = new HashSet<>();
    List<RunState> states = new ArrayList<>();
    for (long seed = 1; seed <= HISTORIES; seed++) {
      RunJsonTest.History history = new RunJsonTest.History(seed);
      for (Event event : history.events) {
        boolean small =
            event instanceof Event.RunResumed(RunState state) && state.groups().size() < 3;
        if (!small && seen.add(event.getClass())) {
          lines.add(record(lines.size(), event));
        }
      }
      states.addAll(history.states);
    }
    lines.add(record(lines.size(), new Event.TaskMastered(9))); // no random history gets there
    Files.write(folder.resolve("journal-3.jsonl"), lines);
    RunState state =
        states.stream()
            .filter(one -> one.leaseCount() > 0 && one.bufferedCount() > 0)
            .findFirst()
            .orElseThrow();
    Files.write(
        folder.resolve("state-3.json"),
        RunJson.encode(new StateSnapshot(new JournalPosition(3, 4_711, 12, 2), state)));
  }

  private static String record(int number, Event event) {
    return new String(
        RunJson.encode(new RunJson.Entry(1_763_000_000_000L + number, List.of(event))), UTF_8);
  }
}
