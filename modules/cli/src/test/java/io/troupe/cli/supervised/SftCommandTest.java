package io.troupe.cli.supervised;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.hash.Sha256;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.CommandOutput;
import io.troupe.testkit.FakeObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** {@code troupe sft} as a person runs it, with the toy policy. */
final class SftCommandTest {
  @TempDir private Path folder;

  @BeforeEach
  void writeFiles() throws IOException {
    Files.write(
        folder.resolve("rows.jsonl"),
        List.of(
            "{\"prompt\":\"1+1=\",\"completion\":\"2\",\"source\":\"sums\"}",
            "{\"prompt\":\"2+1=\",\"completion\":\"3\"}"));
    Files.writeString(
        folder.resolve("small.yaml"),
        """
        run: {folder: %s}
        policy: {engine: toy}
        datasets: [{file: rows.jsonl}]
        training: {epochs: 2, batch: 1, learning_rate: 0.1}
        """
            .formatted(folder.resolve("runs")));
  }

  private Path run() throws IOException {
    return only("runs");
  }

  @Test
  void sft_newRun_completesAndIsRefusedByOtherCommands() throws IOException {
    assertThat(CommandOutput.by("sft", folder.resolve("small.yaml").toString()).code()).isZero();

    String run = run().toString();
    assertThat(Files.readAllLines(run().resolve("metrics.jsonl"))).hasSize(4);
    assertThat(run().resolve("checkpoints/step4/policy")).isDirectory();
    assertThat(CommandOutput.by("sft", "--resume", run).code()).isZero();
    assertThat(CommandOutput.by("train", "--resume", run).err())
        .contains("is a supervised run; continue it by `troupe sft --resume`");
    assertThat(CommandOutput.by("audit", run).err())
        .contains("is a supervised run, which has no rollouts to account for");
  }

  @Test
  void sft_moreStepsOnResume_continues() throws IOException {
    CommandOutput.by("sft", folder.resolve("small.yaml").toString());

    CommandOutput more =
        CommandOutput.by("sft", "--resume", run().toString(), "--set", "training.epochs=3");

    assertThat(more.code()).isZero();
    assertThat(run().resolve("checkpoints/step6/policy")).isDirectory();
    assertThat(Files.readString(run().resolve("resolved.yaml"))).contains("epochs: 3");
  }

  @Test
  void sft_plan_showsWhatIsLearntAsTokensAndTrainsNothing() {
    CommandOutput plan = CommandOutput.by("sft", folder.resolve("small.yaml").toString(), "--plan");

    assertThat(plan.code()).isZero();
    assertThat(plan.out())
        .contains(
            "ends   the last token that is learnt: ⟦1⟧ (1) in 2 of 2",
            "prompt 1|+|1|=",
            "learns 2|⟦1⟧");
    assertThat(folder.resolve("runs")).doesNotExist();
  }

  @Test
  void sft_badInput_saysWhatIsWrong() {
    String file = folder.resolve("small.yaml").toString();

    assertThat(CommandOutput.by("sft")).isEqualTo(CommandOutput.by("sft", file, "--resume", "x"));
    assertThat(CommandOutput.by("sft").code()).isEqualTo(ExitCode.USAGE.code());
    assertThat(CommandOutput.by("sft", file, "--set", "training.epochs=0").err())
        .contains("must be greater than 0 where epochs is 0, or the run never ends");
    assertThat(CommandOutput.by("sft", file, "--set", "policy.context_length=5").err())
        .contains("2 of 2 training rows are longer than policy.context_length (5 tokens)");
    assertThat(CommandOutput.by("sft", file, "--set", "datasets[0].file=none.jsonl").err())
        .contains("none.jsonl: the data file does not exist");
  }

  @Test
  @ResourceLock(Resources.SYSTEM_PROPERTIES)
  void sft_rowsOfAnObjectStore_trainTheWeightsThatTheFileTrains() throws IOException {
    String file = folder.resolve("small.yaml").toString();
    assertThat(CommandOutput.by("sft", file).code()).isZero();
    try (FakeObjectStore server = FakeObjectStore.startWithKeys()) {
      server.put("lake/sums/rows.jsonl", Files.readAllBytes(folder.resolve("rows.jsonl")));
      String[] words = {
        "sft",
        file,
        "--set",
        "run.folder=" + folder.resolve("stored"),
        "--set",
        "datasets[0].file=s3://lake/sums/rows.jsonl",
        "--set",
        "data.cache=" + folder.resolve("cache"),
        "--set",
        "data.s3_endpoint=" + server.endpoint(),
        "--set",
        "data.s3_path_style=true"
      };
      CommandOutput said = CommandOutput.by(words);
      assertThat(said.code()).as(said.err()).isZero();
      assertThat(server.requests()).isNotEmpty();
    }
    assertThat(weights(only("stored"))).isEqualTo(weights(run()));
  }

  private Path only(String name) throws IOException {
    try (var runs = Files.list(folder.resolve(name))) {
      return runs.findFirst().orElseThrow();
    }
  }

  /** The digests of the last checkpoint's files, by name. */
  private static Map<String, String> weights(Path run) throws IOException {
    Map<String, String> digests = new TreeMap<>();
    try (var files = Files.list(run.resolve("checkpoints/step4/policy"))) {
      for (Path each : files.toList()) {
        digests.put(String.valueOf(each.getFileName()), Sha256.hex(each));
      }
    }
    return digests;
  }
}
