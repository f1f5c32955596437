package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run whose placement has a watcher of its checkpoints. */
final class WatchedRunTest {
  private static final Pattern STEP = Pattern.compile("(?m)^(\\d+),held_out,avg,");

  @TempDir private Path folder;

  /** The watcher is killed once it has started, so only its next process can have evaluated. */
  @Test
  void train_watcherKilled_comesBackAndEvaluatesEveryCheckpoint() throws Exception {
    String yaml = TestRuns.write(folder, TestRuns.TOY);
    Path tasks =
        Files.writeString(folder.resolve("tasks.yaml"), "tasks: [{name: held_out, prompts: 2}]\n");
    try (ChildRun run =
        ChildRun.start(
            ChildRun.Place.HERE,
            folder,
            ChildRun.Size.TOY,
            "train",
            yaml,
            "--set",
            "placement.evaluation_gpus=1",
            "--set",
            "evaluation.watch_every=4",
            "--set",
            "evaluation.watch_file=" + tasks,
            "--set",
            "checkpoint.every=2",
            "--set",
            "checkpoint.keep=100",
            "--set",
            "cluster.worker_heap=96")) {
      Await.until("the watcher", () -> !watchers(run).isEmpty());
      watchers(run).forEach(ProcessHandle::destroyForcibly);
      assertThat(run.awaitExit()).as(run.said()).isZero();
      assertThat(run.said())
          .contains("watch   checkpoints are evaluated by a process on the CPU")
          .contains(
              "the watcher of checkpoints ended with code 137; it is started again in 1000 ms")
          .contains("evaluations/watch/results.csv")
          .doesNotContain("not all checkpoints");
      assertThat(run.children()).isEmpty();
    }
    RunFolder done = TestRuns.only(folder);
    Path watched = done.path().resolve("evaluations/watch");
    assertThat(steps(Files.readString(watched.resolve("results.csv"))))
        .containsExactly("0", "4", "8");
    assertThat(watched.resolve("curve.svg")).isNotEmptyFile();
  }

  @Test
  void train_watcherOnAClusterOrWithoutItsTasks_isRefused() throws Exception {
    String yaml = TestRuns.write(folder, TestRuns.TOY);
    CommandOutput refused =
        CommandOutput.by("train", yaml, "--cluster", "--set", "placement.evaluation_gpus=1");

    assertThat(refused.code()).isEqualTo(ExitCode.USAGE.code());
    assertThat(refused.err())
        .contains("placement.evaluation_gpus: must be 0 in a run with --cluster")
        .contains("troupe eval watch RUN --every N -o DIR");
    CommandOutput missing =
        CommandOutput.by(
            "plan",
            yaml,
            "--set",
            "placement.evaluation_gpus=1",
            "--set",
            "evaluation.watch_file=none.yaml");
    assertThat(missing.code()).isEqualTo(ExitCode.USAGE.code());
    assertThat(missing.err()).contains("none.yaml");
  }

  private static List<ProcessHandle> watchers(ChildRun run) {
    return run.children().stream()
        .filter(child -> child.info().commandLine().orElse("").contains(" eval watch "))
        .toList();
  }

  private static List<String> steps(String csv) {
    return STEP.matcher(csv).results().map(found -> found.group(1)).toList();
  }
}
