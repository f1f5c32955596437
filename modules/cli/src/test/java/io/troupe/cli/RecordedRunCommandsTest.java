package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.run.compose.TestRuns;
import io.troupe.tasks.columns.ParquetRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the command line shows of a run that has ended: status, groups, and rollouts as rows. */
final class RecordedRunCommandsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private static Path folder;
  private static String run = "";

  @BeforeAll
  static void train() throws IOException {
    CommandOutput.ofTraining(
        folder, TestRuns.TOY.replace("  token_delay: 1ms\n", ""), "--set", "recording.tokens=0");
    run = TestRuns.only(folder).path().toString();
  }

  private static List<ObjectNode> rows(String file, String... more) throws IOException {
    Path into = folder.resolve(file);
    List<String> arguments = new ArrayList<>(List.of("export", "rollouts", run, "-o"));
    arguments.add(into.toString());
    arguments.addAll(List.of(more));
    CommandOutput output = CommandOutput.ending(0, arguments.toArray(String[]::new));
    List<ObjectNode> rows = new ArrayList<>();
    if (file.endsWith(".parquet")) {
      ParquetRows.read(into, (_, row) -> rows.add(row));
    } else {
      for (String line : Files.readAllLines(into)) {
        rows.add((ObjectNode) JSON.readTree(line));
      }
    }
    assertThat(output.err()).contains(rows.size() + " rows written to " + into);
    return rows;
  }

  @Test
  void rollouts_asParquetAndLines_areAllThatTheRunRecorded() throws IOException {
    List<ObjectNode> parquet = rows("all.parquet");

    assertThat(rows("all.jsonl")).hasToString(parquet.toString());
    Map<Long, List<JsonNode>> trained = new HashMap<>();
    for (JsonNode row : parquet) {
      assertThat(row.path("prompt").asText()).endsWith("=");
      assertThat(row.path("reason").asText()).isNotEmpty();
      if (row.path("stage").asText().equals("trained")) {
        trained.computeIfAbsent(row.path("group").asLong(), _ -> new ArrayList<>()).add(row);
        assertThat(row.path("token_ids")).hasSize(row.path("tokens").asInt());
        assertThat(row.path("log_probs")).hasSize(row.path("tokens").asInt());
        assertThat(row.path("staleness").asLong())
            .isEqualTo(row.path("step").asLong() - 1 - row.path("oldest_version").asLong());
      } else {
        assertThat(row.path("step").isNull()).isTrue();
        assertThat(row.path("advantage").isNull()).isTrue();
      }
    }
    assertThat(trained).as("8 steps of 3 groups").hasSize(24);
    for (List<JsonNode> group : trained.values()) {
      assertThat(group).hasSize(8);
      double mean =
          group.stream().mapToDouble(row -> row.path("reward").asDouble()).average().orElseThrow();
      for (JsonNode row : group) {
        assertThat(Math.signum(row.path("advantage").asDouble()))
            .isEqualTo(Math.signum(row.path("reward").asDouble() - mean));
      }
    }
  }

  @Test
  void rollouts_ofSteps_haveTheGroupsOfThese() throws IOException {
    assertThat(rows("some.jsonl", "--steps", "2-3"))
        .filteredOn(row -> row.path("stage").asText().equals("trained"))
        .hasSize(2 * 3 * 8)
        .allMatch(row -> row.path("step").asInt() == 2 || row.path("step").asInt() == 3);
  }

  private static List<JsonNode> worst(String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("groups", run, "--json", "--worst"));
    arguments.addAll(List.of(more));
    JsonNode found = CommandOutput.ending(0, arguments.toArray(String[]::new)).json();
    return StreamSupport.stream(found.spliterator(), false).toList();
  }

  @Test
  void worstGroups_byOrderAndChoice_areThoseOfTheRows() throws IOException {
    List<Double> means = worst("1000").stream().map(g -> g.path("mean_reward").asDouble()).toList();
    assertThat(means).isSorted().hasSize(rows("all.jsonl").size() / 8);
    assertThat(worst("3"))
        .extracting(g -> g.path("mean_reward").asDouble())
        .isEqualTo(means.subList(0, 3));

    assertThat(worst("1000", "--only", "wrong"))
        .isNotEmpty()
        .allSatisfy(
            group ->
                assertThat(group.path("completions"))
                    .allMatch(row -> row.path("reward").asDouble() == 0));
    assertThat(worst("1000", "--only", "trained", "--steps", "-2")).hasSize(6);
    assertThat(worst("4", "--order", "longest"))
        .extracting(group -> -group.path("tokens").asLong())
        .isSorted();
    assertThat(worst("1000", "--only", "truncated"))
        .isNotEmpty()
        .allMatch(group -> group.path("truncated").asInt() > 0);

    assertThat(CommandOutput.ending(0, "groups", run, "--worst", "1", "--only", "wrong").out())
        .contains("mean reward 0.000", "prompt  ", "answer  ", "another number", "1 of ");
  }

  @Test
  void arguments_ofCommandsAboutRuns_nameRunsAlike() {
    record Case(int code, String said, List<String> arguments) {
      Case(int code, String said, String... arguments) {
        this(code, said, List.of(arguments));
      }
    }
    String gone = "has no console open now";
    for (Case each :
        List.of(
            new Case(0, "", "status", run),
            new Case(0, "", "status", "--run", run),
            new Case(2, "named twice", "status", run, "--run", run),
            new Case(4, "there is no run folder", "status", "nosuch-20260101-000000"),
            new Case(0, "", "events", run),
            new Case(0, "", "groups", run),
            new Case(0, "", "groups", run, "1"),
            new Case(2, "no GROUP", "groups", run, "1", "--worst", "2"),
            new Case(2, "leave --limit out", "groups", run, "--worst", "2", "--limit", "3"),
            new Case(2, "need --try", "plan", "conf/quickstart.yaml", "--prompts", "3"),
            new Case(2, "--only is one of all", "groups", run, "--worst", "2", "--only", "live"),
            new Case(2, "--order is reward", "groups", run, "--worst", "2", "--order", "newest"),
            new Case(2, "--steps is FROM-TO", "groups", run, "--worst", "2", "--steps", "3-1"),
            new Case(2, "--steps needs --worst", "groups", run, "--steps", "3-1"),
            new Case(4, gone, "top", run, "--once"),
            new Case(4, gone, "watch", run, "--once"),
            new Case(4, gone, "actors", run),
            new Case(4, gone, "nodes", run),
            new Case(4, gone, "verifiers", run),
            new Case(4, gone, "waits", run),
            new Case(4, gone, "threads", run),
            new Case(4, gone, "flame", run),
            new Case(4, gone, "pause", run),
            new Case(4, gone, "resume", run),
            new Case(4, gone, "checkpoint", run),
            new Case(4, gone, "drain", run),
            new Case(4, gone, "drain", run, "node-b"),
            new Case(4, gone, "requeue", run, "1"),
            new Case(4, gone, "cancel", run, "1"),
            new Case(4, gone, "limit", run, "1"),
            new Case(4, gone, "restart", run, "worker"),
            new Case(4, gone, "quarantine", run, "math-1"),
            new Case(4, gone, "release", run, "math-1"),
            new Case(4, gone, "log", run, "io.troupe", "DEBUG"),
            new Case(2, "missing: GROUP", "requeue"),
            new Case(2, "missing: LEVEL", "log", "io.troupe"),
            new Case(
                2, "neither .parquet nor .jsonl", "export", "rollouts", run, "-o", "rows.csv"))) {
      CommandOutput output = CommandOutput.by(each.arguments().toArray(String[]::new));
      assertThat(output.code())
          .as(String.join(" ", each.arguments()) + output.err())
          .isEqualTo(each.code());
      assertThat(output.err()).as(String.join(" ", each.arguments())).contains(each.said());
    }
  }

  @Test
  void resume_withOtherKeys_saysWhichChanged(@TempDir Path other) throws IOException {
    String yaml = TestRuns.TOY.replace("  token_delay: 1ms\n", "").replace("steps: 8", "steps: 2");
    CommandOutput.ofTraining(other, yaml);

    CommandOutput resumed =
        CommandOutput.ending(
            0,
            "train",
            "--resume",
            TestRuns.only(other).path().toString(),
            "--set",
            "training.steps=3",
            "--set",
            "training.learning_rate=0.002",
            "--set",
            "run.seed=5");

    assertThat(resumed.err().lines().filter(line -> line.startsWith("change ")))
        .containsExactly(
            "change training.steps 2 → 3", "change training.learning_rate 0.003 → 0.002");
  }
}
