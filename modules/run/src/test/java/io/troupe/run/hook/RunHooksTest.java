package io.troupe.run.hook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.HooksSection;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs of the user, over several processes of a run. */
final class RunHooksTest {
  @TempDir private Path temporary;

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private RunFolder folder;
  private Path seen;

  @BeforeEach
  void create() throws IOException {
    Map<String, Object> run =
        Map.of("started", "2026-01-02T03:04:00Z", "git", Map.of("commit", "abc", "dirty", true));
    folder =
        RunFolder.create(
            temporary.resolve("runs"),
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents("a: 1\n".getBytes(UTF_8), "a: 1\n", run, "", "?? new.py\n"));
    seen = temporary.resolve("seen.txt");
  }

  private HooksSection keys(String checkpoint, String evaluation, String end) {
    return new HooksSection(checkpoint, evaluation, end, Duration.ofSeconds(20));
  }

  private void save(int step) throws IOException {
    Checkpoints.open(folder.checkpoints())
        .save(step, at -> Files.writeString(at.resolve("weights"), "w"));
  }

  private String note(String name) {
    return "f() { echo %s $TROUPE_STEP \"$(basename \"$1\")\" >> %s; }; f".formatted(name, seen);
  }

  @Test
  void hooks_runOncePerCheckpointAndEvaluation_andTheEndComesLast() throws Exception {
    save(2);
    try (RunHooks hooks =
        RunHooks.open(
            keys(note("checkpoint"), note("evaluation"), note("end")), folder, said::add)) {
      save(4);
      hooks.checkpoint(4);
      hooks.evaluation(4);
      hooks.end(5);
    }
    String run = folder.name();
    assertThat(Files.readAllLines(seen))
        .containsExactly(
            "checkpoint 2 step2", "checkpoint 4 step4", "evaluation 4 " + run, "end 5 " + run);
    try (RunHooks again =
        RunHooks.open(keys(note("checkpoint"), note("evaluation"), ""), folder, said::add)) {
      again.evaluation(4); // A resume evaluates its checkpoint's step again.
      save(6);
      again.checkpoint(6);
    }
    assertThat(Files.readAllLines(seen)).hasSize(5).endsWith("checkpoint 6 step6");
    assertThat(said).isEmpty();
  }

  @Test
  void hook_diedWithItsProcess_runsAgainForTheSameCheckpoint() throws Exception {
    save(2);
    RunHooks.open(keys(note("first"), "", ""), folder, said::add).close();
    Files.delete(folder.path().resolve("hooks/state.json")); // As if it had not ended.
    RunHooks.open(keys(note("second"), "", ""), folder, said::add).close();
    assertThat(said).isEmpty();
    assertThat(Files.readAllLines(seen)).containsExactly("first 2 step2", "second 2 step2");
  }

  @Test
  void hook_failsOrHangs_isSaid_andTheNextOneRuns() throws Exception {
    HooksSection keys =
        new HooksSection("sleep 60; true", "echo no; exit 3; true", "", Duration.ofMillis(300));
    save(2);
    long before = System.nanoTime();
    try (RunHooks hooks = RunHooks.open(keys, folder, said::add)) {
      hooks.evaluation(2);
      Await.until("both", () -> said.size() == 2);
    }
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(30));
    assertThat(said.getFirst()).startsWith("on.checkpoint of step 2 had not ended after PT0.3S");
    assertThat(said.getLast()).startsWith("on.evaluation of step 2 ended with exit code 3; see ");
    assertThat(folder.path().resolve("hooks/evaluation.log")).content().contains("no");
  }

  @Test
  void hooks_moreThanWait_areSaidAndNotRun() throws Exception {
    try (RunHooks hooks = RunHooks.open(keys("", "sleep 0.2; true", ""), folder, said::add)) {
      for (int step = 1; step <= 70; step++) {
        hooks.evaluation(step);
      }
      assertThat(said)
          .isNotEmpty()
          .allMatch(line -> line.startsWith("hooks are behind: 64 wait, and on.evaluation is"));
      Thread.currentThread().interrupt(); // The test does not wait for the rest.
    }
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void results_runWithEvaluations_areASummary() throws Exception {
    Files.writeString(
        folder.metrics(),
        """
        {"step":0,"seconds":1,"eval":0.1}
        {"step":2,"seconds":2,"eval":0.5,"eval_hard":0.25,"reward":0.5,"loss":null}
        {"step":3,"seconds":3,"eval":0.4,"reward":0.75}
        """);
    save(2);
    ResultsFile.write(folder, "The run is complete", "troupe train --resume x");
    assertThat(folder.path().resolve("RESULTS.md"))
        .content()
        .contains("# " + folder.name() + "\n\nThe run is complete.")
        .contains("| commit | abc, with changes: patches/ |\n| steps | 3 |")
        .contains("| held_out | 0.1000 | 0.5000 | 2 | 0.4000 |")
        .contains("| hard | 0.2500 | 0.2500 | 2 | 0.2500 |")
        .contains("- reward: 0.75")
        .contains("- `checkpoints/step2`, ")
        .contains("Continue: `troupe train --resume x`");
    assertThat(folder.path().resolve("patches/git_status.txt")).content().isEqualTo("?? new.py\n");
  }
}
