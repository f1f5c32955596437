package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.FakeInstanceMetadata;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reactions to the first and the second signal, before and during training. */
final class SignalTest {
  private static final String FOREVER = "training.steps=1000000";

  @TempDir private Path folder;

  @AfterEach
  void requireNoNativeCrash() throws Exception {
    assertThat(TestRuns.crashReports(folder)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void train_signalled_savesSaysHowToResumeAndResumes(String signal, int code) throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    String[] resume;
    try (ChildRun child = ChildRun.train(folder, ChildRun.Size.TOY, config, FOREVER)) {
      child.awaitOut(4);
      child.signal(signal);
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(code);
      assertThat(child.err())
          .anyMatch(line -> line.startsWith("draining"))
          .anyMatch(line -> line.startsWith("paused step "));
      resume = child.resumeArguments();
    }

    RunFolder run = TestRuns.only(folder);
    RunHistory history = RunHistory.replay(run, 1);
    long step = history.state().version().number();
    assertThat(history.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Interrupted()));
    assertThat(Checkpoints.view(run.checkpoints()).verify().newest().map(Checkpoint::step))
        .contains(step);
    assertThat(TestRuns.rows(run).lastKey()).isEqualTo(step);

    try (ChildRun child =
        ChildRun.start(
            folder,
            ChildRun.Size.TOY,
            resume[0],
            resume[1],
            resume[2],
            "--set",
            "training.steps=" + (step + 2))) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      assertThat(child.err()).anyMatch(("resume from step " + step)::equals);
    }
    assertThat(RunHistory.replay(run, 1).state().version().number()).isEqualTo(step + 2);
  }

  @Test
  void train_noticeThatTheHostEnds_savesAndExits143() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (FakeInstanceMetadata metadata = FakeInstanceMetadata.start();
        ChildRun child =
            ChildRun.start(
                folder,
                ChildRun.Size.TOY,
                "train",
                config,
                "--json",
                "--interruptions",
                metadata.endpoint(),
                "--set",
                FOREVER)) {
      child.awaitOut(2);
      metadata.put(
          FakeInstanceMetadata.ACTION,
          "{\"action\":\"terminate\",\"time\":\"2126-11-22T08:22:00Z\"}");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(143);
      assertThat(child.err())
          .anyMatch(
              line -> line.startsWith("EC2 takes this spot instance back (terminate) at 2126"))
          .anyMatch(line -> line.startsWith("draining"))
          .anyMatch(line -> line.startsWith("paused step "));
      assertThat(child.resumeArguments()).hasSize(3);
    }
  }

  @Test
  void train_signalledTwice_stopsAtOnce() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun child =
        ChildRun.train(
            folder,
            ChildRun.Size.TOY,
            config,
            "policy.token_delay=60s",
            "rollout.lease_timeout=1h",
            "run.drain_timeout=1h")) {
      child.awaitErr("run    ");
      child.signal("INT");
      child.awaitErr("draining");
      child.signal("INT");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(130);
      assertThat(child.err())
          .anyMatch("stopping now; engines have 30 s to end what they compute"::equals);
      assertThat(child.resumeArguments()).hasSize(3);
    }
  }

  @Test
  void train_terminatedInWarmup_exits143AndResumesFromTheStart() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun child =
        ChildRun.train(folder, ChildRun.Size.TOY, config, "warmup.steps=1000000000")) {
      child.awaitErr("warm-up");
      child.signal("TERM");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(143);
      assertThat(child.resumeArguments()).hasSize(3);
    }
  }

  @RepeatedTest(2)
  void train_terminatedWhilePyTorchTrains_exits143WithoutACrash() throws Exception {
    String config = TestRuns.write(folder, TestRuns.DJL);
    try (ChildRun child = ChildRun.train(folder, ChildRun.Size.DJL, config, FOREVER)) {
      child.awaitOut(3);
      child.signal("TERM");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(143);
    }
    RunFolder run = TestRuns.only(folder);
    assertThat(Checkpoints.view(run.checkpoints()).verify().newest().map(Checkpoint::step))
        .contains(RunHistory.replay(run, 1).state().version().number());
  }

  @RepeatedTest(2)
  void train_terminatedWhilePyTorchWarmsUp_exits143WithoutACrash() throws Exception {
    String config = TestRuns.write(folder, TestRuns.DJL);
    try (ChildRun child =
        ChildRun.train(folder, ChildRun.Size.DJL, config, "warmup.steps=1000000000")) {
      child.awaitErr("warm-up");
      child.signal("TERM");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(143);
    }
  }
}
