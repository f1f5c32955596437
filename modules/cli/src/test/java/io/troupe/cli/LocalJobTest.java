package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Training jobs of SageMaker in local mode: the containers' own command, with a folder for each
 * instance, and a played S3 that outlives them.
 */
final class LocalJobTest {
  private static final ChildRun.Place WITH_KEYS =
      new ChildRun.Place(List.of(), AwsKeys.JVM_OPTIONS);
  private static final Path JOB =
      Path.of("../../conf/sagemaker-quickstart.yaml").toAbsolutePath().normalize();
  private static final Pattern STEP =
      Pattern.compile("lake/job/runs/[^/]+/checkpoints/step(\\d+)-.*/manifest.json");
  private static final int STEPS = 12;

  @TempDir private Path folder;

  private FakeObjectStore server;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.start().bucket("lake");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Submits the job; its instances are folders in, or below, one of that name. */
  private ChildRun submit(String instances, int hosts, String... more) throws IOException {
    return ChildRun.start(WITH_KEYS, folder, ChildRun.Size.TOY, words(instances, hosts, more));
  }

  private String[] words(String instances, int hosts, String... more) throws IOException {
    String set =
        String.join(
            ", ",
            "run.sync=s3://lake/job/runs",
            "run.sync_endpoint=" + server.endpoint(),
            "run.sync_path_style=true",
            "run.sync_every=200ms",
            "run.drain_timeout=20s",
            "recording.traces=-1",
            "policy.token_delay=100ms",
            "training.max_staleness=0",
            "training.steps=" + STEPS);
    List<String> words =
        new ArrayList<>(
            List.of(
                "sagemaker",
                "submit",
                JOB.toString(),
                "--local",
                instances,
                "--set",
                "config=" + TestRuns.write(folder, TestRuns.TOY),
                "--set",
                "instance_count=" + hosts,
                "--set",
                "set=[" + set + "]"));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  /** The newest step whose checkpoint is whole on the server. */
  private int copiedStep() {
    return server.objects().keySet().stream()
        .map(STEP::matcher)
        .filter(Matcher::matches)
        .mapToInt(found -> Integer.parseInt(found.group(1)))
        .max()
        .orElse(-1);
  }

  private void assertThatLossesAreThoseOfAnUnbrokenRun(RunFolder continued) throws Exception {
    Path unbroken = Files.createDirectory(folder.resolve("unbroken"));
    CommandOutput.ofTraining(
        unbroken,
        TestRuns.TOY,
        "--json",
        "--set",
        "training.max_staleness=0",
        "--set",
        "training.steps=" + STEPS);
    List<String> expected = TestRuns.losses(TestRuns.only(unbroken));
    assertThat(expected).hasSize(STEPS).doesNotHaveDuplicates();
    assertThat(TestRuns.losses(continued)).isEqualTo(expected);
  }

  @Test
  void submit_spotInstanceReclaimed_nextInstanceContinuesBitForBit() throws Exception {
    Path first = folder.resolve("first");
    String run;
    try (ChildRun job = submit("first", 1)) {
      Await.until("a checkpoint on the server", () -> copiedStep() >= 2);
      job.signal("TERM");
      job.awaitExit();
      assertThat(job.out()).anyMatch(line -> line.startsWith("paused step "));
      run = TestRuns.only(first.resolve("checkpoints")).name();
    }
    assertThat(first.resolve("output/failure")).doesNotExist();
    assertThat(copiedStep()).isBetween(2, STEPS - 1);

    Path second = folder.resolve("second");
    try (ChildRun job = submit("second", 1)) {
      assertThat(job.awaitExit()).as(job.said()).isZero();
      assertThat(job.out())
          .anyMatch(
              line -> line.startsWith("starts troupe train --resume s3://lake/job/runs/" + run));
    }

    RunFolder continued = TestRuns.only(second.resolve("checkpoints"));
    assertThat(continued.name()).isEqualTo(run);
    assertThatLossesAreThoseOfAnUnbrokenRun(continued);
    assertThat(copiedStep()).isEqualTo(STEPS);
    assertThat(second.resolve("model/model.safetensors")).exists();
    assertThat(second.resolve("output/data/run/metrics.jsonl"))
        .hasSameTextualContentAs(continued.metrics());
  }

  @Test
  void submit_json_answersWithOneObject_andTheContainersOutputGoesToStandardError()
      throws Exception {
    ChildRun job = submit("only", 1, "--json");
    try (job) {
      assertThat(job.awaitExit()).as(job.said()).isZero();
    }
    assertThat(job.out())
        .containsExactly(
            "{\"folder\":\"%s\",\"exit_codes\":{\"algo-1\":0}}"
                .formatted(folder.resolve("only").toRealPath()));
    assertThat(job.err()).anyMatch(line -> line.startsWith("starts troupe train "));
    assertThat(folder.resolve("only/model/model.safetensors")).exists();
  }

  @Test
  void submit_dryRun_describesTheHostsAndStartsNone() throws Exception {
    Path planned = folder.resolve("planned");
    CommandOutput described = CommandOutput.by(words(planned.toString(), 2, "--dry-run", "--json"));
    assertThat(described.code()).isZero();
    assertThat(described.out())
        .startsWith("{\"127.0.0.1\":{\"resourceconfig.json\":{\"current_host\":\"127.0.0.1\"")
        .contains("\"127.0.0.2\":{", "\"hyperparameters.json\"");
    CommandOutput said = CommandOutput.by(words(planned.toString(), 1, "--dry-run"));
    assertThat(said.code()).isZero();
    assertThat(said.out().strip()).isEqualTo("would run 1 host in " + planned);
    assertThat(planned).doesNotExist();
  }

  /** On demand: its hosts listen at the ports of a job. */
  @Test
  @EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
  void submit_twoHostsKilledTogether_nextTwoContinueBitForBit() throws Exception {
    try (ChildRun job = submit("first", 2)) {
      Await.until("a checkpoint on the server", () -> copiedStep() >= 2);
      job.kill();
    }
    assertThat(copiedStep()).isBetween(2, STEPS - 1);

    try (ChildRun job = submit("second", 2)) {
      assertThat(job.awaitExit()).as(job.said()).isZero();
      assertThat(job.out())
          .anyMatch(line -> line.contains("node 127.0.0.1 joined"))
          .anyMatch(line -> line.contains("node 127.0.0.2 joined"));
    }

    RunFolder continued = TestRuns.only(folder.resolve("second/127.0.0.1/checkpoints"));
    assertThatLossesAreThoseOfAnUnbrokenRun(continued);
    assertThat(folder.resolve("second/127.0.0.2/output/failure")).doesNotExist();
  }
}
