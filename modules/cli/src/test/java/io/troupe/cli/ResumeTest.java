package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Ledger;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The runs that a resume continues, and those that it refuses. */
final class ResumeTest {
  private static final int STEPS = 8;
  private static final int FOREVER = 1_000_000;

  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void resume_lockStep_losesNothingBitForBit(ChildRun.Size size) throws Exception {
    Path interrupted = Files.createDirectory(folder.resolve("interrupted"));
    try (ChildRun child = ChildRun.start(interrupted, size, train(interrupted, size, FOREVER))) {
      child.awaitOut(4);
      child.signal("INT");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(130);
    }
    assertThat(TestRuns.crashReports(interrupted)).isEmpty();
    int first = TestRuns.losses(TestRuns.only(interrupted)).size() + 2;
    try (ChildRun child = ChildRun.start(interrupted, size, resume(interrupted, first))) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
    }
    int steps = first + 3;
    CommandOutput.ofResume(interrupted, steps); // a run that had come to its end
    assertThat(TestRuns.only(interrupted).resolved())
        .as("what --set changed is kept for the next resume")
        .content()
        .containsPattern("\\bsteps: " + steps + "\\b");

    Path unbroken = Files.createDirectory(folder.resolve("unbroken"));
    CommandOutput.ofTraining(unbroken, yaml(size), options(steps));
    List<String> expected = TestRuns.losses(TestRuns.only(unbroken));
    assertThat(expected).hasSize(steps).doesNotHaveDuplicates();
    assertThat(TestRuns.losses(TestRuns.only(interrupted))).isEqualTo(expected);
  }

  /** Two steps on each group, one after the other: the checkpoint lies between them or behind. */
  @Test
  void resume_groupsOfTwoUsesKilled_losesNothingBitForBit() throws Exception {
    String[] twice = {"--json", "--set", "training.group_uses=2", "--set", "checkpoint.every=1"};
    Path killed = Files.createDirectory(folder.resolve("killed"));
    String config = TestRuns.write(killed, TestRuns.TOY);
    int steps = 0;
    for (int kill = 0; kill < 3; kill++) {
      List<String> arguments = new ArrayList<>();
      arguments.addAll(
          kill == 0
              ? List.of("train", config)
              : List.of("train", "--resume", TestRuns.only(killed).name()));
      arguments.addAll(kill == 0 ? List.of(twice) : List.of("--json"));
      arguments.addAll(List.of("--set", "training.steps=" + FOREVER));
      try (ChildRun child =
          ChildRun.start(killed, ChildRun.Size.TOY, arguments.toArray(String[]::new))) {
        child.awaitOut(4 + kill);
        child.kill();
      }
      steps = TestRuns.losses(TestRuns.only(killed)).size() + 5;
    }
    CommandOutput.ofResume(killed, steps);
    RunFolder run = TestRuns.only(killed);
    RunState state = RunHistory.replay(run, 1, 2).state();
    assertThat(state.ledger().reused()).isPositive();
    assertThat(JournalAudit.of(run).report().violations()).isEmpty();

    Path unbroken = Files.createDirectory(folder.resolve("unbroken"));
    List<String> options = new ArrayList<>(List.of(twice));
    options.addAll(List.of("--set", "training.steps=" + steps));
    CommandOutput.ofTraining(unbroken, TestRuns.TOY, options.toArray(String[]::new));
    List<String> expected = TestRuns.losses(TestRuns.only(unbroken));
    assertThat(expected).hasSize(steps).doesNotHaveDuplicates();
    assertThat(TestRuns.losses(run)).isEqualTo(expected);
    assertThat(RunHistory.replay(TestRuns.only(unbroken), 1, 2).state().ledger())
        .extracting(Ledger::trained, Ledger::reused)
        .containsExactly(state.ledger().trained(), state.ledger().reused());
  }

  @Test
  void resume_killedInWarmup_beginsAgain() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun child =
        ChildRun.train(folder, ChildRun.Size.TOY, config, "warmup.steps=1000000000")) {
      child.awaitErr("warm-up");
      child.kill();
    }
    RunFolder run = TestRuns.only(folder);
    try (ChildRun child =
        ChildRun.resume(folder, ChildRun.Size.TOY, run.name(), "warmup.steps=5")) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      assertThat(child.err())
          .contains("resume from the start: the run has no checkpoint yet")
          .anyMatch(line -> line.startsWith("warm-up    5/5"));
    }
    assertThat(RunHistory.replay(run, 1).state().version().number()).isEqualTo(STEPS);
  }

  /** Chat templates see the date on which the run began, whenever it continues. */
  @Test
  void resume_onAnotherDay_keepsTheDateInItsPrompts() throws Exception {
    Path policy = Files.createDirectory(folder.resolve("policy"));
    try (Stream<Path> files = Files.list(TINY)) {
      for (Path file : files.toList()) {
        Files.copy(file, policy.resolve(String.valueOf(file.getFileName())));
      }
    }
    Files.writeString(
        policy.resolve("chat_template.jinja"),
        "{{ strftime_now('%d %b') }}|{{ messages[0]['content'] }}");
    String config =
        TestRuns.write(
            folder,
            """
            run: {date: "2024-07-26T23:30:00-05:00"}
            task: {name: arithmetic, min: 0, max: 4, held_out_share: 0.2, template: chat}
            policy: {engine: pretrained, checkpoint: %s, context_length: 32}
            rollout: {completions_per_prompt: 2, max_tokens: 3}
            training: {steps: 2, groups_per_step: 1, learning_rate: 1e-4, max_filtered_groups: 2}
            evaluation: {every: 0}
            """
                .formatted(policy));
    RunFolder run =
        RunFolder.create(
            folder.resolve("runs"),
            "begun",
            LocalDateTime.of(2024, 7, 26, 23, 30),
            new RunFolder.Contents(
                new byte[0], RunConfig.load(Path.of(config), List.of()).yaml(), Map.of(), ""));
    try (ChildRun child =
        ChildRun.resume(folder, ChildRun.Size.DJL, run.name(), "training.steps=1")) {
      child.awaitExit(); // Untrained as it is, the policy may have nothing to learn from.
      List<String> rollouts = Files.readAllLines(run.traces().resolve("rollouts.jsonl"));
      assertThat(rollouts)
          .as(child.said())
          .isNotEmpty()
          .allSatisfy(line -> assertThat(line).contains("\"prompt\":\"26 Jul|"));
    }
    assertThat(RunConfig.load(run.resolved(), List.of()).config().run().date())
        .as("kept for the next resume")
        .isEqualTo("2024-07-26T23:30:00-05:00");
  }

  @Test
  void resume_runThatIsUnknownOrAlive_isRefusedAndHarmsNothing() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun alive =
        ChildRun.train(folder, ChildRun.Size.TOY, config, "training.steps=" + FOREVER)) {
      alive.awaitOut(3);
      RunFolder run = TestRuns.only(folder);
      try (ChildRun lost = ChildRun.resume(folder, ChildRun.Size.TOY, "no-such-run")) {
        assertThat(lost.awaitExit()).as(lost.said()).isEqualTo(2);
        assertThat(lost.out()).isEmpty();
        assertThat(lost.err())
            .singleElement()
            .asString()
            .startsWith("error: there is no run folder ")
            .contains("no-such-run")
            .endsWith(run.name());
      }
      Path half = Files.createDirectory(run.checkpoints().resolve(".step9.tmp-0badcafe"));
      try (ChildRun second = ChildRun.resume(folder, ChildRun.Size.TOY, run.name())) {
        assertThat(second.awaitExit()).as(second.said()).isEqualTo(4);
        assertThat(second.err())
            .singleElement()
            .asString()
            .startsWith("error: run folder ")
            .contains("is in use: process ", "Wait until that process ends");
      }
      assertThat(half).as("a checkpoint that the living process writes").exists();
      alive.signal("INT");
      assertThat(alive.awaitExit()).as(alive.said()).isEqualTo(130);
    }
  }

  private static String yaml(ChildRun.Size size) {
    return size == ChildRun.Size.TOY ? TestRuns.TOY : TestRuns.DJL;
  }

  private static String[] options(int steps) {
    return new String[] {
      "--json", "--set", "training.max_staleness=0", "--set", "training.steps=" + steps
    };
  }

  private static String[] train(Path where, ChildRun.Size size, int steps) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("train", TestRuns.write(where, yaml(size))));
    arguments.addAll(List.of(options(steps)));
    return arguments.toArray(String[]::new);
  }

  private static String[] resume(Path where, int steps) throws IOException {
    String run = TestRuns.only(where).name();
    return new String[] {"train", "--resume", run, "--set", "training.steps=" + steps};
  }
}
