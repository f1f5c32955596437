package io.troupe.store.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.run.Event;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.segment.JournalPosition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/** Writes the golden files of {@link FormatsTest} for a new version of a format. */
final class GoldenFormats {
  private static final int HISTORIES = 40;

  /** Events that no random history gets to. */
  static final List<Event> SHELL =
      List.of(
          new Event.TaskMastered(9),
          new Event.GroupSpent(new LeaseId(new GroupId(7), 12)),
          new Event.ProcessStarted(new ProcessFacts(new TreeMap<>(), "# format 1\n")),
          new Event.WeightsMade(new WeightVersion(4), "00ff"),
          new Event.GroupDigested(
              new LeaseId(new GroupId(7), 12), List.of("NpP5CfZUikg", "g1eRMsSeNSI@48")),
          new Event.GroupBuffered(
              new GroupSummary(
                  new LeaseId(new GroupId(8), 13),
                  List.of(1.0),
                  List.of(TokenVersions.uniform(new WeightVersion(4), 3)),
                  List.of(new EpisodeSummary(2, 1, StopReason.COMPLETED, 1, 56, 780, 860)))),
          new Event.RanksWentBack(7, "the ranks that kept piece 1 of 3 are lost"));

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
    for (Event event : SHELL) {
      lines.add(record(lines.size(), event));
    }
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
