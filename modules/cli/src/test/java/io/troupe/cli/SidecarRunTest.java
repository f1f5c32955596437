package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ProcessIdentity;
import io.troupe.run.compose.TestRuns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs whose rollouts are sampled by servers in processes of their own. */
@Timeout(value = 1200, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SidecarRunTest {
  /**
   * A run of the toy policy behind two servers. Few answers of a policy that has learned nothing
   * are right, so that only large groups differ in their rewards.
   */
  static final String RUN =
      """
      run:
        seed: 1
      task:
        name: arithmetic
        min: 0
        max: 9
        held_out_share: 0.2
      policy:
        engine: toy
        context_length: 16
        token_delay: 1ms
      rollout:
        workers: 0
        completions_per_prompt: 64
        max_tokens: 3
        max_concurrent_groups: 16
        groups_per_request: 8
        sidecars:
          count: 2
          heap: 128
      training:
        steps: 200
        groups_per_step: 4
        max_staleness: 1
        learning_rate: 0.2
      evaluation:
        every: 5
        prompts: 20
        target: 0.6
      checkpoint:
        every: 20
      recording:
        tokens: 0
      """;

  @Test
  void train_sidecarKilledInTheMiddle_reachesTheTargetOverHttpAlone(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("sidecars.yaml"), RUN);
    try (ChildRun run = ChildRun.train(folder, ChildRun.Size.TOY, file.toString())) {
      run.awaitOut(3); // the target is not looked at before the fifth step
      List<ProcessHandle> servers = run.servers();
      assertThat(servers).hasSize(2);
      assertThat(servers.getFirst().destroyForcibly()).isTrue();
      assertThat(run.awaitExit()).as(run.said()).isZero();
      assertThat(String.join("\n", run.err())).contains("done   step", "refused=none");
      assertThat(servers).noneMatch(ProcessIdentity::runs);
    }
    assertThat(CommandOutput.ofReplay(folder, 0).toString())
        .contains("\"training\":true", "\"equal\":true");
  }

  /**
   * A policy behind servers gives the same files as in process, but for the protocol's description.
   */
  @Test
  void eval_runWithSidecars_isServedByThemAsByThisProcess(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("sidecars.yaml"), RUN);
    String[] few = {"--set", "training.steps=3", "--set", "evaluation.target=0"};
    finish(folder, "train", file.toString(), few[0], few[1], few[2], few[3]);
    String run = TestRuns.only(folder).path().toString();

    assertThat(finish(folder, "eval", run, "-o", "served"))
        .contains("2 sidecars start; logs in served/.servers");
    assertThat(finish(folder, "eval", run, "-o", "here", "--in-process"))
        .noneMatch(line -> line.contains("sidecars"));

    Path served = folder.resolve("served");
    Path here = folder.resolve("here");
    assertThat(Files.readAllLines(served.resolve("completions.jsonl"))).hasSize(20);
    for (String same : List.of("prompts.jsonl", "completions.jsonl", "results.jsonl")) {
      assertThat(served.resolve(same)).hasSameTextualContentAs(here.resolve(same));
    }
    assertThat(served.resolve("protocol.json")).content().contains("\"sidecars\" : \"troupe\"");
    assertThat(here.resolve("protocol.json")).content().doesNotContain("sidecars\" :");
    assertThat(served.resolve(".servers")).doesNotExist();
  }

  private static List<String> finish(Path folder, String... arguments) throws Exception {
    try (ChildRun child = ChildRun.start(folder, ChildRun.Size.TOY, arguments)) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      return child.err();
    }
  }
}
