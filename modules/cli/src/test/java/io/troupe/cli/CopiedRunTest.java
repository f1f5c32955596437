package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeInstanceMetadata;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs that are copied to S3, and continue from there. */
final class CopiedRunTest {
  private static final ChildRun.Place WITH_KEYS =
      new ChildRun.Place(List.of(), AwsKeys.JVM_OPTIONS);
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
      "--set", "policy.token_delay=40ms",
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

  /** Credentials that expire in the middle delay the copy, and are shown. */
  @Test
  void train_credentialsExpire_stepsAreMadeAndTheCopyIsWholeOnceTheyAreRenewed() throws Exception {
    try (ChildRun child = troupe(folder, train(folder, FOREVER, copying()))) {
      Await.until("a checkpoint on the server", () -> copiedStep() >= 2);
      server.fail("lake", Fault.EXPIRED);
      assertThat(child.awaitErr("copy of the run is behind"))
          .contains("ExpiredToken; the credentials have expired, renew them");
      child.awaitOut(child.out().size() + 4);
      server.fail("lake", Fault.NONE);
      int before = copiedStep();
      Await.until("a later checkpoint on the server", () -> copiedStep() > before);
      child.signal("TERM");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(ExitCode.ofSignal(15));
      assertThat(child.err())
          .contains("copy   s3://lake/runs/" + TestRuns.only(folder).name() + "/");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s3://lakee/runs | NONE | status 404 NoSuchBucket; the bucket is not there, create it",
        "s3://lake/runs | FORBIDDEN | status 403 AccessDenied; the credentials do not open it",
        "s3://lake/runs | EXPIRED | status 400 ExpiredToken; the credentials have expired, renew them"
      })
  @ResourceLock(Resources.SYSTEM_PROPERTIES)
  void train_placeThatRefuses_beginsNoRun(String place, Fault fault, String why) throws Exception {
    server.fail("lake", fault);
    AwsKeys.set();
    try {
      Path runs = folder.resolve("runs");
      CommandOutput refused =
          CommandOutput.by(
              train(
                  folder,
                  8,
                  with(copying(), "--set", "run.sync=" + place, "--set", "run.folder=" + runs)));
      assertThat(refused.code()).isEqualTo(ExitCode.USAGE.code());
      assertThat(refused.err()).contains("run.sync", place + "/index.json: " + why, "run.sync=");
      assertThat(runs).doesNotExist();
    } finally {
      AwsKeys.clear();
    }
  }

  private static String[] with(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  /** EC2 gives notice, the run drains, and the host ends before it has. */
  @Test
  void resume_spotHostEndsWhileTheRunDrains_makesTheSameLossesBitForBit() throws Exception {
    Path first = Files.createDirectory(folder.resolve("first"));
    String run;
    try (FakeInstanceMetadata metadata = FakeInstanceMetadata.start();
        ChildRun child =
            troupe(
                first,
                train(first, FOREVER, with(copying(), "--interruptions", metadata.endpoint())))) {
      Await.until("a checkpoint on the server", () -> copiedStep() >= 2);
      server.fail("lake", Fault.THROTTLED); // So that the run, saved or not, waits for its copy.
      metadata.put(
          FakeInstanceMetadata.ACTION,
          "{\"action\":\"terminate\",\"time\":\"2126-11-22T08:22:00Z\"}");
      child.awaitErr("draining");
      child.kill();
      run = TestRuns.only(first).name();
    }
    server.fail("lake", Fault.NONE);
    int made = TestRuns.losses(TestRuns.only(first)).size();
    int steps = Math.max(copiedStep(), made) + 4;

    Path second = Files.createDirectory(folder.resolve("second"));
    String copy = "s3://lake/runs/" + run;
    try (ChildRun child =
        troupe(
            second,
            "train",
            "--resume",
            copy,
            "--s3-endpoint",
            server.endpoint(),
            "--s3-path-style",
            "--set",
            "training.steps=" + steps)) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
    }
    try (ChildRun child =
        troupe(
            first,
            "train",
            "--resume",
            run,
            "--set",
            "run.sync=",
            "--set",
            "training.steps=" + steps)) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
    }

    Path unbroken = Files.createDirectory(folder.resolve("unbroken"));
    CommandOutput.ofTraining(unbroken, TestRuns.TOY, options(steps));
    List<String> expected = TestRuns.losses(TestRuns.only(unbroken));
    assertThat(expected).hasSize(steps).doesNotHaveDuplicates();
    assertThat(TestRuns.losses(TestRuns.only(second))).as("elsewhere").isEqualTo(expected);
    assertThat(TestRuns.losses(TestRuns.only(first))).as("where it died").isEqualTo(expected);
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
