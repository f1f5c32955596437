package io.troupe.run.replay;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.replay.RecordedRun;
import io.troupe.core.run.Event;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.folder.RunFolder;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The beginnings that a replay can have, and those that it cannot. */
final class ReplayPlanTest {
  private static final ReplaySettings FROM_5 = new ReplaySettings(5, 9, false, false);

  @TempDir private Path root;
  private RunFolder folder;
  private final RecordedRun run = new RecordedRun(RunState.INITIAL);

  @BeforeEach
  void makeRun() throws Exception {
    folder = RunFolder.create(root, "gone", new RunFolder.Contents(new byte[0], "", Map.of(), ""));
  }

  /** The journal begins with a process that continued from a checkpoint. */
  @Test
  void of_missingCheckpoint_isRefusedByItsName() {
    RunState checkpoint =
        RunState.INITIAL.evolve(new Event.RunStarted()).version(new WeightVersion(4));
    run.event(new Event.ProcessStarted(new ProcessFacts(new TreeMap<>(), "")));
    run.event(new Event.WeightsMade(new WeightVersion(4), "made4"));
    run.event(new Event.RunResumed(checkpoint));

    assertThatThrownBy(() -> ReplayPlan.of(folder, run, FROM_5))
        .isInstanceOf(ReplayRefusedException.class)
        .hasMessage(
            "gone can be made again from its beginning or from a checkpoint that a process continued from, and checkpoint step4 is gone; ask for a later --from");
  }

  @Test
  void of_journalThatDoesNotSayWhatComputed_isRefused() {
    assertThatThrownBy(() -> ReplayPlan.of(folder, run, FROM_5))
        .isInstanceOf(ReplayRefusedException.class)
        .hasMessageContaining("its oldest records were dropped (recording.journal)");
  }
}
