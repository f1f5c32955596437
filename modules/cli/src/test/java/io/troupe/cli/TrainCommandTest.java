package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.config.RunConfig;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The output, the files and the refusals of {@code troupe train}. */
final class TrainCommandTest {
  private static final Pattern SUM =
      Pattern.compile("\\s*([0-9 ]+) (rollouts|prompts admitted) = (.*)");
  private static final Pattern PART = Pattern.compile("([0-9 ]+) [a-z ]+");
  private static final int STEPS = 8;

  @TempDir private Path folder;

  @Test
  void train_json_printsOneRowALineAndNothingElse() throws Exception {
    List<String> lines;
    try (ChildRun child = finished("--json")) {
      lines = child.out();
    }
    ObjectMapper json = new ObjectMapper();
    List<JsonNode> rows = new ArrayList<>();
    for (String line : lines) {
      rows.add(json.readTree(line));
    }
    assertThat(rows).hasSize(STEPS + 1);
    for (int step = 0; step <= STEPS; step++) {
      JsonNode row = rows.get(step);
      assertThat(row.path("step").asInt()).isEqualTo(step);
      assertThat(row.path("seconds").isNumber()).isTrue();
      assertThat(row.path("eval").isNumber()).as("eval of step %d", step).isEqualTo(step % 4 == 0);
      assertThat(row.path("loss").isNumber()).as("loss of step %d", step).isEqualTo(step > 0);
      assertThat(row.has("reward")).as("reward of step %d", step).isEqualTo(step > 0);
    }
    assertThat(Files.readAllLines(TestRuns.only(folder).metrics())).isEqualTo(lines);
  }

  /** A run measures with one form of a verifier and rewards with the other. */
  @Test
  void train_verifierThatMeasuresOtherwise_judgesEvaluationsInAPoolOfItsOwn() throws Exception {
    StringBuilder sums = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      sums.append(
          "{\"id\": \"p%d\", \"prompt\": \"2+2=\", \"answer\": \"4\", \"solution\": \"Answer: 4\"}\n"
              .formatted(i));
    }
    Files.writeString(folder.resolve("sums.jsonl"), sums);
    String config =
        TestRuns.write(
            folder,
            """
            task:
              {name: jsonl, alias: sums, file: sums.jsonl, verifier: math,
               solution_field: solution, held_out_share: 0.5}
            policy: {engine: toy, context_length: 16, token_delay: 1ms}
            warmup: {steps: 0}
            rollout: {completions_per_prompt: 2, max_tokens: 12}
            training:
              {steps: 2, groups_per_step: 1, learning_rate: 1e-4, max_filtered_groups: 1000000}
            evaluation: {every: 1, prompts: 2}
            """);
    try (ChildRun child = ChildRun.train(folder, ChildRun.Size.TOY, config)) {
      child.awaitOut(1);
      child.signal("INT");
      assertThat(child.awaitExit()).as(child.said()).isEqualTo(130);
      assertThat(child.err())
          .as("two held-out prompts")
          .anyMatch(line -> line.startsWith("verifier math.2: 2 scored, "));
    }
  }

  @Test
  void train_finished_leavesACompleteRunFolder() throws Exception {
    CommandOutput.ofTraining(
        folder, TestRuns.TOY, "--json", "--set", "training.learning_rate=0.004");

    RunFolder run = TestRuns.only(folder);
    assertThat(run.name()).matches("short-\\d{8}-\\d{6}");
    assertThat(Files.readString(run.config())).isEqualTo(TestRuns.TOY);
    assertThat(Files.readString(run.path().resolve("resolved.yaml")))
        .contains("learning_rate: 0.004")
        .contains("stale: mask");
    RunConfig kept = RunConfig.load(run.path().resolve("resolved.yaml"), List.of()).config();
    assertThat(run.name())
        .isEqualTo(
            "short-"
                + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
                    .format(OffsetDateTime.parse(kept.run().date())));
    JsonNode provenance = new ObjectMapper().readTree(run.path().resolve("run.json").toFile());
    assertThat(provenance.findPath("seeds").path("run").asLong()).isEqualTo(5);
    assertThat(provenance.toString()).contains(System.getProperty("java.version"), "\"git\"");
    for (String trace :
        List.of("trace.jsonl", "samples.jsonl", "rollouts.jsonl", "trained.jsonl")) {
      assertThat(run.traces().resolve(trace)).isNotEmptyFile();
      assertJsonLines(run.traces().resolve(trace));
    }
    assertThat(RunHistory.replay(run, 1).state().version().number()).isEqualTo(STEPS);
    assertThat(Checkpoints.view(run.checkpoints()).verify().whole())
        .extracting(Checkpoint::step)
        .containsExactly(8L, 6L);
    assertThat(run.checkpoints().resolve("step8/state.json")).isNotEmptyFile();
  }

  @Test
  void train_table_isAlignedAndClosesWithAnAccountThatAddsUp() throws Exception {
    List<String> lines;
    try (ChildRun child = finished()) {
      lines = child.out();
    }
    List<String> table = lines.subList(0, STEPS + 2);
    assertThat(table.getFirst()).contains("step", "reward", "stale max/mean", "wait for", "tok/s");
    assertThat(table).allSatisfy(row -> assertThat(row).hasSameSizeAs(table.getFirst()));
    assertThat(lines.get(STEPS + 2))
        .startsWith("done   step 8 · v8 · ")
        .containsPattern(" · eval [01]\\.\\d{3} → [01]\\.\\d{3}$");
    assertAddsUp(lines.get(STEPS + 3), "rollouts");
    assertAddsUp(lines.get(STEPS + 4), "prompts admitted");
    assertThat(lines).hasSize(STEPS + 5);
  }

  @Test
  void train_badConfiguration_exits2WithEveryViolation() throws Exception {
    String config =
        TestRuns.write(
            folder,
            TestRuns.TOY
                .replace("steps: 8", "steps: 0")
                .replace("max: 4", "max: four")
                .replace("engine: toy", "engine: toys"));
    Path runs = folder.resolve("runs");
    CommandOutput said = CommandOutput.by("train", config, "--set", "run.folder=" + runs);
    assertThat(said.code()).isEqualTo(2);
    assertThat(said.out()).isEmpty();
    assertThat(said.err())
        .contains(
            "short.yaml:6", "four", "short.yaml:9", "toys", "short.yaml:18", "training.steps");
    assertThat(runs).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "train",
        "train FILE --resume short",
        "train --continue --resume short",
        "train FILE --stepps 3",
        "train absent.yaml",
        "train FILE --set training.stepps=3",
        "train FILE --set training.steps",
        "trian FILE"
      })
  void train_badUsage_is2AndStartsNothing(String arguments) throws Exception {
    Path runs = folder.resolve("runs");
    String config =
        TestRuns.write(
            folder, TestRuns.TOY.replace("seed: 5", "seed: 5\n  folder: \"%s\"".formatted(runs)));
    CommandOutput said = CommandOutput.by(arguments.replace("FILE", config).split(" ", -1));
    assertThat(said.code()).as(said.err()).isEqualTo(2);
    assertThat(said.out()).isEmpty();
    assertThat(said.err()).isNotEmpty().doesNotContain("\tat ");
    assertThat(runs).doesNotExist();
  }

  @Test
  void train_continue_beginsOnceAndLeavesACompleteRunAsItIs() throws Exception {
    finished("--continue").close();
    RunFolder run = TestRuns.only(folder);
    finished("--continue").close();
    assertThat(TestRuns.only(folder).name()).isEqualTo(run.name());
    assertThat(RunHistory.replay(run, 1).state().version().number()).isEqualTo(STEPS);

    String changed = TestRuns.write(folder, TestRuns.TOY.replace("steps: 8", "steps: 9"));
    try (ChildRun child =
        ChildRun.start(folder, ChildRun.Size.TOY, "train", changed, "--continue")) {
      assertThat(child.awaitExit()).isEqualTo(2);
      assertThat(String.join("\n", child.err())).contains("has changed since", "--resume runs/");
    }
  }

  @Test
  void train_runFolderIsAFile_saysSoAndExits4() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    Path taken = Files.writeString(folder.resolve("taken"), "");
    CommandOutput said =
        CommandOutput.by("train", config, "--set", "run.folder=" + taken.resolve("runs"));
    assertThat(said.code()).as(said.err()).isEqualTo(4);
    assertThat(said.err().lines())
        .singleElement()
        .asString()
        .startsWith("error: ")
        .contains("taken");
  }

  @Test
  void train_nobodyReadsStandardOutput_finishesAllTheSame() throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    try (ChildRun child =
        ChildRun.startDeaf(folder, ChildRun.Size.TOY, "train", config, "--json")) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
    }
    assertThat(TestRuns.rows(TestRuns.only(folder)).lastKey()).isEqualTo(STEPS);
  }

  private ChildRun finished(String... options) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("train", TestRuns.write(folder, TestRuns.TOY)));
    arguments.addAll(Arrays.asList(options));
    ChildRun child = ChildRun.start(folder, ChildRun.Size.TOY, arguments.toArray(String[]::new));
    try {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      return child;
    } catch (AssertionError failed) {
      child.close();
      throw failed;
    }
  }

  private static void assertJsonLines(Path file) throws Exception {
    ObjectMapper json = new ObjectMapper();
    for (String line : Files.readAllLines(file)) {
      assertThat(json.readTree(line).isObject()).as("%s: %s", file, line).isTrue();
    }
  }

  private static void assertAddsUp(String line, String what) {
    Matcher sum = SUM.matcher(line);
    assertThat(sum.matches()).as(line).isTrue();
    assertThat(sum.group(2)).isEqualTo(what);
    long total = 0;
    for (String part : sum.group(3).split(" · ", -1)[0].split(" \\+ ", -1)) {
      Matcher counted = PART.matcher(part);
      assertThat(counted.matches()).as(part).isTrue();
      total += number(counted.group(1));
    }
    assertThat(total).as(line).isEqualTo(number(sum.group(1))).isPositive();
  }

  private static long number(String spaced) {
    return Long.parseLong(spaced.replace(" ", ""));
  }
}
