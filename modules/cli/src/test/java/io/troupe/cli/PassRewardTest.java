package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run whose rewards are 0 or 0.4, and pass with 0.4: every command agrees on what passed. */
final class PassRewardTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String GRADED =
      TestRuns.TOY.replace(
          "policy:\n",
          """
          verifier:
            pass_reward: 0.4
            rewards:
              - {source: arithmetic, verifier: numeric, weight: 0.4}
              - {source: arithmetic, verifier: format, weight: 0.6, options: [shape=boxed]}
          policy:
          """);

  @TempDir private Path folder;

  private static List<JsonNode> lines(Path file) throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }

  @Test
  void train_gradedRewards_passByTheMarkEverywhere() throws Exception {
    CommandOutput.ofTraining(folder, GRADED, "--json");
    RunFolder run = TestRuns.only(folder);

    JsonNode last = TestRuns.lines(run).getLast();
    assertThat(last.path("eval").asDouble()).isPositive();
    assertThat(last.path("eval_reward").asDouble())
        .isCloseTo(0.4 * last.path("eval").asDouble(), within(1e-9));
    List<JsonNode> groups = lines(run.traces().resolve("rollouts.jsonl"));
    long right = 0;
    for (JsonNode group : groups) {
      for (int i = 0; i < group.path("rewards").size(); i++) {
        boolean passed = group.path("passed").path(i).asBoolean();
        assertThat(passed).isEqualTo(group.path("rewards").path(i).asDouble() > 0.3);
        right += passed ? 1 : 0;
      }
    }
    assertThat(right).isPositive();

    String eval = folder.resolve("eval").toString();
    CommandOutput.ending(0, "eval", run.toString(), "-o", eval);
    JsonNode task =
        JSON.readTree(folder.resolve("eval/summary.json").toFile()).path("tasks").path(0);
    assertThat(task.path("pass").path("1")).isEqualTo(last.path("eval"));
    assertThat(task.path("avg")).isEqualTo(last.path("eval_reward"));

    assertThat(
            CommandOutput.ending(0, "eval", "compare", eval, eval)
                .out()
                .lines()
                .filter(row -> row.startsWith("held_out")))
        .extracting(row -> row.split(" +", -1)[3])
        .containsExactly("passed", "reward");

    Path verdicts = folder.resolve("verdicts.jsonl");
    CommandOutput.ending(
        0, "verify", "numeric", "--input", run.path().toString(), "--output", verdicts.toString());
    assertThat(lines(verdicts).stream().filter(line -> line.path("passed").asBoolean()))
        .hasSize((int) right);
    Path rows = folder.resolve("sft.jsonl");
    CommandOutput.ending(
        0,
        "tasks",
        "sft",
        "--from",
        run.path().toString(),
        "--max",
        "1",
        "--output",
        rows.toString());
    assertThat(lines(rows)).isNotEmpty();

    CommandOutput.ending(0, "audit", run.toString());
  }
}
