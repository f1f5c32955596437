package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.ShapedCheckpoints;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run on GPUs of one host, and the shipped runs of Qwen3 with tiny random weights. */
final class HostGpusTest {
  @TempDir private Path folder;

  /** Coordinator, node agent and worker are processes of their own. */
  @Test
  void train_gpusOfThisHost_startsTheNodeAndEndsItWithTheRun() throws Exception {
    String yaml = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun run =
        ChildRun.start(
            ChildRun.Place.HERE,
            folder,
            ChildRun.Size.TOY,
            "train",
            yaml,
            "--gpus",
            "virtual:2",
            "--set",
            "training.steps=2",
            "--set",
            "cluster.worker_heap=96")) {
      assertThat(run.awaitExit()).as(run.said()).isZero();
      assertThat(run.said())
          .contains("rollout workers on GPU 1", "done   step 2")
          .contains("more   troupe train --resume")
          .contains(" --gpus virtual:2 --set training.steps=N")
          .doesNotContain("is killed");
      assertThat(run.children()).isEmpty();
    }
    Path node = TestRuns.only(folder).path().resolve("cluster/node.log");
    assertThat(Files.readString(node))
        .contains("works for")
        .contains("drains: groups in flight finish, then it leaves");
  }

  @Test
  void train_gpusWithoutACudaPyTorch_isRefusedWithTheNextCommand() throws Exception {
    String yaml = TestRuns.write(folder, TestRuns.DJL);
    CommandOutput refused = CommandOutput.by("train", yaml, "--gpus", "0-1");

    assertThat(refused.code()).isEqualTo(ExitCode.USAGE.code());
    assertThat(refused.err())
        .contains("--gpus 0-1: DJL's own PyTorch 2.7.1 is built for CPUs")
        .contains("`troupe torch list`", "`troupe torch build ENV`", "policy.torch");
    CommandOutput onCpu =
        CommandOutput.by("train", yaml, "--gpus", "0-1", "--set", "policy.device=cpu");
    assertThat(onCpu.err()).contains("policy.device is cpu, so the run would use none of them");
  }

  @Test
  void plan_gpusOfThisHost_drawsThem() throws Exception {
    String yaml = TestRuns.write(folder, TestRuns.TOY);
    assertThat(
            CommandOutput.by("plan", yaml, "--gpus", "0,2", "--set", "placement.trainer_ranks=2")
                .err())
        .contains("placement.nodes: must have room for all roles");
  }

  /** Each file with the same code; the comment of a row has the differences. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "qwen3-0.6b-gsm8k.yaml",
        "gsm8k-python.yaml",
        "qwen3-1.7b-8gpu.yaml",
        "qwen3-8b-16gpu.yaml",
        "qwen3-8b-lora.yaml"
      })
  void train_shippedFileWithTinyRandomWeights_makesTwoSteps(String file) throws Exception {
    Path model = ShapedCheckpoints.tiny(Files.createDirectory(folder.resolve("model")));
    List<String> arguments =
        new ArrayList<>(List.of("train", Path.of("../../conf", file).toString()));
    for (String override :
        List.of(
            "run.folder=" + folder.resolve("runs"),
            "task.file=" + questions(),
            "policy.checkpoint=" + model,
            "policy.context_length=1024",
            "policy.micro_batch_tokens=2048",
            "policy.kv_tokens=0",
            "policy.device=cpu",
            "rollout.workers=1",
            "rollout.sidecars.count=0",
            "rollout.publish=merged",
            "rollout.completions_per_prompt=2",
            "rollout.max_tokens=4",
            "rollout.max_concurrent_groups=2",
            "rollout.groups_per_request=2",
            "training.steps=2",
            "training.groups_per_step=2",
            "training.filter_degenerate=false",
            "evaluation.prompts=1",
            "evaluation.every=2",
            "evaluation.max_tokens=4",
            "console.enabled=false",
            "placement.nodes=0")) {
      arguments.addAll(List.of("--set", override));
    }

    assertThat(CommandOutput.by(arguments.toArray(String[]::new)).code()).isZero();
    assertThat(TestRuns.rows(TestRuns.only(folder))).containsOnlyKeys(0L, 1L, 2L);
  }

  private Path questions() throws IOException {
    List<String> rows =
        IntStream.range(0, 40)
            .mapToObj(
                i ->
                    "{\"question\": \"What is %d + 1?\", \"answer\": \"#### %d\"}"
                        .formatted(i, i + 1))
            .toList();
    return Files.write(folder.resolve("questions.jsonl"), rows);
  }
}
