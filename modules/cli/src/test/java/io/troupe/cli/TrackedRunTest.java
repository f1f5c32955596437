package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that are sent to trackers, of which some do not answer. */
final class TrackedRunTest {
  private static final int STEPS = 8;

  @TempDir private Path folder;

  @Test
  void train_trackerNeverAnswers_stepsAreMade_andTrackSendsThemLater() throws Exception {
    RunFolder run;
    InetSocketAddress place;
    try (ServerSocket blackHole = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      place = new InetSocketAddress(InetAddress.getLoopbackAddress(), blackHole.getLocalPort());
      try (ChildRun child =
          ChildRun.train(
              folder,
              ChildRun.Size.TOY,
              TestRuns.write(folder, TestRuns.TOY),
              "tracking=[tensorboard, wandb, mlflow]",
              "trackers.mlflow_url=http://127.0.0.1:" + place.getPort(),
              "trackers.at_end=3s")) {
        assertThat(child.awaitExit()).as(child.said()).isZero();
        run = TestRuns.only(folder);
        assertThat(child.err())
            .contains(
                "track  a tracker lacks part of the run; send it: troupe track " + name(child));
      }
    }
    assertThat(TestRuns.losses(run)).hasSize(STEPS);
    assertThat(run.path().resolve("tensorboard")).isNotEmptyDirectory();
    assertThat(run.path().resolve("wandb")).isNotEmptyDirectory();
    assertThat(run.path().resolve("tracking/process.log"))
        .content()
        .contains("mlflow      lacks part of the run: the time was over before it answered");
    CommandOutput before = CommandOutput.by("track", run.path().toString(), "--dry-run");
    assertThat(before.out())
        .contains("tensorboard has the run, steps up to 8")
        .contains("wandb       has the run, steps up to 8")
        .contains("mlflow      lacks part of the run");

    try (PlayedTrackers healed = PlayedTrackers.start(place.getPort())) {
      CommandOutput sent = CommandOutput.by("track", run.path().toString(), "--json");
      assertThat(sent.code()).isZero();
      assertThat(sent.out())
          .contains("{\"tracker\":\"mlflow\",\"step\":8,\"remote\":\"r\",\"complete\":true");
      assertThat(healed.mlflow()).isEqualTo(steps(STEPS));
    }
  }

  private static Set<Long> steps(long last) {
    return LongStream.rangeClosed(1, last).boxed().collect(Collectors.toCollection(TreeSet::new));
  }

  /** The outage begins and ends while the run continues; no tracker lacks or doubles a step. */
  @Test
  void train_serversSilentForAWhile_stepsAreMadeMeanwhile_andAllCurvesAreWhole() throws Exception {
    try (PlayedTrackers servers = PlayedTrackers.start(0);
        ChildRun child =
            ChildRun.train(
                folder,
                ChildRun.Size.TOY,
                TestRuns.write(folder, TestRuns.TOY),
                "policy.token_delay=80ms",
                "training.steps=1000000",
                "tracking=[tensorboard, wandb, mlflow, trackio]",
                "trackers.mlflow_url=" + servers.address(),
                "trackers.trackio_url=" + servers.address())) {
      Await.until(
          "both servers have steps",
          () -> !servers.mlflow().isEmpty() && !servers.trackio().isEmpty());
      servers.blackHole();
      Await.until("both trackers wait for an answer", () -> servers.swallowed() >= 2);
      long had = Math.max(servers.mlflow().size(), servers.trackio().size());
      child.awaitOut(child.out().size() + 10); // The run waits for neither.
      assertThat(servers.mlflow().size()).isLessThanOrEqualTo((int) had);
      servers.heal();
      Await.until(
          "later steps on both servers",
          () -> servers.mlflow().size() > had + 10 && servers.trackio().size() > had + 10);
      child.signal("TERM");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(ExitCode.ofSignal(15));

      RunFolder run = TestRuns.only(folder);
      int last = TestRuns.losses(run).size();
      assertThat(last).isGreaterThan(10);
      assertThat(servers.mlflow()).isEqualTo(steps(last));
      assertThat(servers.trackio()).isEqualTo(steps(last));
      assertThat(occurrences(run.path().resolve("tensorboard"), "train/loss")).isEqualTo(last);
      assertThat(occurrences(run.path().resolve("wandb"), "train/loss"))
          .isGreaterThanOrEqualTo(last);
      assertThat(CommandOutput.by("track", run.path().toString(), "--dry-run").out())
          .contains("tensorboard has the run, steps up to " + last)
          .contains("wandb       has the run, steps up to " + last)
          .contains("mlflow      has the run, steps up to " + last)
          .contains("trackio     has the run, steps up to " + last);
    }
  }

  /** Returns the number of times that a text is in the files below a folder. */
  private static int occurrences(Path below, String text) throws IOException {
    int found = 0;
    try (Stream<Path> files = Files.walk(below)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String content = Files.readString(file, StandardCharsets.ISO_8859_1);
        found += content.split(text, -1).length - 1;
      }
    }
    return found;
  }

  /** The run's folder, as the process calls it. */
  private String name(ChildRun child) throws IOException {
    assertThat(child.err()).anyMatch(line -> line.startsWith("folder "));
    try (var runs = Files.list(folder.resolve("runs"))) {
      return "runs/" + runs.findFirst().orElseThrow().getFileName();
    }
  }

  @Test
  void track_runWithoutTrackers_saysWhatToGive() throws Exception {
    CommandOutput trained =
        CommandOutput.by(
            "train",
            TestRuns.write(folder, TestRuns.TOY),
            "--set",
            "run.folder=" + folder.resolve("runs"),
            "--set",
            "training.steps=1");
    assertThat(trained.code()).isZero();
    RunFolder run = TestRuns.only(folder);
    CommandOutput none = CommandOutput.by("track", run.path().toString());
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.err()).contains("has no tracking; give --to");
    CommandOutput mlflow = CommandOutput.by("track", run.path().toString(), "--to", "mlflow");
    assertThat(mlflow.code()).isEqualTo(2);
    assertThat(mlflow.err()).contains("--set trackers.mlflow_url=");
    CommandOutput sent = CommandOutput.by("track", run.path().toString(), "--to", "tensorboard");
    assertThat(sent.code()).isZero();
    assertThat(sent.out()).contains("tensorboard has the run, steps up to 1");
  }
}
