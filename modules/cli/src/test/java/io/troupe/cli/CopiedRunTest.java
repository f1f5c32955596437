package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
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
import org.junit.jupiter.api.io.TempDir;

/** Runs that are copied to S3, and continue from there. */
final class CopiedRunTest {
  private static final ChildRun.Place WITH_KEYS =
      new ChildRun.Place(
          List.of(), List.of("-Daws.accessKeyId=tester", "-Daws.secretAccessKey=secret"));
  private static final Pattern STEP = Pattern.compile("lake/runs/[^/]+/checkpoints/step(\\d+)-.*");
  private static final int FOREVER = 1_000_000;

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

  private ChildRun troupe(Path where, String... arguments) throws IOException {
    return ChildRun.start(WITH_KEYS, where, ChildRun.Size.TOY, arguments);
  }

  private String[] train(Path where, int steps, String... more) throws IOException {
    List<String> words = new ArrayList<>(List.of("train", TestRuns.write(where, TestRuns.TOY)));
    words.addAll(List.of(options(steps)));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  private static String[] options(int steps) {
    return new String[] {
      "--json", "--set", "training.max_staleness=0", "--set", "training.steps=" + steps
    };
  }

  private String[] copying() {
    return new String[] {
      "--set", "run.sync=s3://lake/runs",
      "--set", "run.sync_every=200ms",
      "--set", "run.sync_path_style=true",
      "--set", "recording.traces=-1",
      "--set", "policy.token_delay=8ms",
      "--set", "run.sync_endpoint=" + server.endpoint()
    };
  }

  /** The newest step whose checkpoint is whole on the server. */
  private int copiedStep() {
    return server.objects().keySet().stream()
        .filter(key -> key.endsWith("/manifest.json"))
        .map(STEP::matcher)
        .filter(Matcher::matches)
        .mapToInt(found -> Integer.parseInt(found.group(1)))
        .max()
        .orElse(-1);
  }

  @Test
  void resume_copyOfKilledRun_onAnotherHost_makesTheSameLossesBitForBit() throws Exception {
    Path first = Files.createDirectory(folder.resolve("first"));
    String run;
    try (ChildRun child = troupe(first, train(first, FOREVER, copying()))) {
      child.awaitOut(3);
      server.fail("lake", Fault.THROTTLED); // The run notices nothing of it.
      child.awaitOut(6);
      child.awaitErr("copy of the run is behind");
      server.fail("lake", Fault.NONE);
      int before = copiedStep();
      Await.until("a later checkpoint on the server", () -> copiedStep() > Math.max(2, before));
      run = TestRuns.only(first).name();
      child.kill();
    }
    int steps = copiedStep() + 4;

    Path second = Files.createDirectory(folder.resolve("second"));
    List<String> resume =
        List.of(
            "train",
            "--resume",
            "s3://lake/runs/" + run,
            "--s3-endpoint",
            server.endpoint(),
            "--s3-path-style",
            "--set",
            "training.steps=" + steps);
    try (ChildRun child = troupe(second, resume.toArray(String[]::new))) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      assertThat(child.err()).contains("copy   s3://lake/runs/" + run + "/");
    }

    Path unbroken = Files.createDirectory(folder.resolve("unbroken"));
    CommandOutput.ofTraining(unbroken, TestRuns.TOY, options(steps));
    List<String> expected = TestRuns.losses(TestRuns.only(unbroken));
    assertThat(expected).hasSize(steps).doesNotHaveDuplicates();
    RunFolder continued = TestRuns.only(second);
    assertThat(continued.name()).isEqualTo(run);
    assertThat(TestRuns.losses(continued)).isEqualTo(expected);
    assertThat(copiedStep()).as("the new host copies on").isEqualTo(steps);
    assertThat(CommandOutput.by("audit", continued.path().toString()).code()).isZero();

    assertThatCopyIsTaken(first, run);
  }

  /** The former host comes back: what is there is kept, and the copy is the new host's. */
  private void assertThatCopyIsTaken(Path first, String run) throws Exception {
    CommandOutput status = CommandOutput.by("runs", "list", first.resolve("runs").toString());
    assertThat(status.out()).contains(run).contains("copy at s3://lake/runs/" + run + "/ lacks ");
    try (ChildRun child = troupe(first, "runs", "sync", run, "--timeout", "20")) {
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(4);
      assertThat(child.out()).singleElement().asString().contains("another run folder writes");
    }
  }
}
