package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.run.compose.TestRuns;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.CheckpointListing;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run whose process is killed again and again, and continues in both ways there are. */
final class KillTest {
  private static final long SEED = 11;
  private static final int KILLS = 20;
  private static final int MAX_STALENESS = 1;

  /** Lines before the run folder's name is out. */
  private static final int BANNER = 5;

  @TempDir private Path folder;

  @Test
  void train_killedTwentyTimes_resumesWithAnAccountThatAddsUp() throws Exception {
    Random random = new Random(SEED);
    String config = TestRuns.write(folder, TestRuns.TOY);
    String[] train = {"train", config, "--json", "--set", "training.steps=100000", "--continue"};
    long steps = 0;
    for (int kill = 1; kill <= KILLS; kill++) {
      String[] arguments = kill % 2 == 1 ? train : resume("100000");
      try (ChildRun child = ChildRun.start(folder, ChildRun.Size.TOY, arguments)) {
        child.awaitLines((kill == 1 ? BANNER : 1) + random.nextInt(11));
        assertThat(child.survives(random.nextInt(25)))
            .as("seed %d, kill %d; %s", SEED, kill, child.said())
            .isTrue();
        child.kill();
      }
      steps = requireSound("seed %d, kill %d".formatted(SEED, kill), steps);
    }
    assertThat(steps).as("seed %d: steps that 20 kills let through", SEED).isPositive();

    long last = steps + 3;
    try (ChildRun child = ChildRun.start(folder, ChildRun.Size.TOY, resume(Long.toString(last)))) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
    }
    requireFinished(last);
  }

  private String[] resume(String steps) throws IOException {
    String run = TestRuns.only(folder).path().toString();
    return new String[] {"train", "--resume", run, "--json", "--set", "training.steps=" + steps};
  }

  /** Returns the step of the newest checkpoint. */
  private long requireSound(String when, long before) throws IOException {
    RunFolder run = TestRuns.only(folder);
    CheckpointListing listing = Checkpoints.view(run.checkpoints()).verify();
    assertThat(listing.broken()).as(when).isEmpty();
    long newest = listing.newest().map(Checkpoint::step).orElse(0L);
    assertThat(newest).as(when).isGreaterThanOrEqualTo(before);
    RunHistory.replay(run, MAX_STALENESS);
    assertThat(JournalAudit.of(run).report().violations()).as(when).isEmpty();
    return newest;
  }

  private void requireFinished(long steps) throws IOException {
    RunFolder run = TestRuns.only(folder);
    RunHistory history = RunHistory.replay(run, MAX_STALENESS);
    RunState end = history.state();
    assertThat(history.resumes()).isPositive();
    assertThat(end.phase()).isEqualTo(new Phase.Ended(new RunEnd.Completed()));
    assertThat(end.version().number()).isEqualTo(steps);
    assertThat(end.ledger().trained()).isEqualTo(3 * steps);
    assertThat(history.trained().keySet()).hasSize((int) steps).endsWith(steps);

    Checkpoint newest = Checkpoints.view(run.checkpoints()).verify().newest().orElseThrow();
    RunState saved =
        StateSnapshot.read(newest.directory().resolve(TrainerTasks.STATE_FILE))
            .orElseThrow()
            .state();
    assertThat(saved.version()).isEqualTo(end.version());
    assertThat(saved.cursor()).isEqualTo(end.cursor());
    assertThat(saved.groups()).isEqualTo(end.groups());
    assertThat(saved.ledger()).isEqualTo(end.ledger());
    assertThat(saved.lastFence()).isEqualTo(end.lastFence());

    // A row waits for its step's evaluation, and a checkpoint does not.
    List<JsonNode> rows = TestRuns.lines(run);
    assertThat(rows)
        .extracting(row -> row.path("step").longValue())
        .containsExactlyElementsOf(LongStream.rangeClosed(0, steps).boxed().toList());
    assertThat(rows.getLast().path("eval").isNumber()).isTrue();
    rows.forEach(
        row -> assertThat(row.path("staleness_max").asLong(0)).isBetween(0L, (long) MAX_STALENESS));
  }
}
