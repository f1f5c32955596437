package io.troupe.tasks.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.reward.PassMark;
import io.troupe.tasks.results.StoredResults.Band;
import io.troupe.tasks.results.StoredResults.Solved;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The measured results of prompts, and the data made of them. */
final class StoredResultsTest {
  private static final Difficulty MEAN = new Difficulty.MeanReward();
  private static final Band ALL = new Band(0, 1, true);

  @TempDir private Path folder;

  private StoredResults read(String lines) throws IOException {
    Path file = Files.writeString(folder.resolve("lines.jsonl"), lines);
    return ResultFiles.read(List.of(file), "", PassMark.FULL);
  }

  private static PromptResults results(int judged, double sum, int passed, String... correct) {
    return new PromptResults(judged, sum, passed, 0, List.of(correct), "", "");
  }

  @Test
  void read_linesOfVerifyAndRates_countsWhatWasJudged() throws IOException {
    StoredResults read =
        read(
            """
            {"id": "a", "reward": 1.0, "completion": "x", "passed": true, "outcome": "scored"}
            {"id": "a", "reward": 0.5, "completion": "y", "passed": false}
            {"id": "a", "reward": 0.0, "completion": "z", "passed": false, "outcome": "timeout"}
            {"id": "b", "pass_rate": 0.25}
            {"id": 7, "reward": 1}
            """);

    assertThat(read.byId())
        .containsExactly(
            Map.entry("a", new PromptResults(2, 1.5, 1, 1, List.of("x"), "", "")),
            Map.entry("b", results(1, 0.25, 0)),
            Map.entry("7", results(1, 1, 1)));
    assertThat(MEAN.of(read.byId().getOrDefault("a", PromptResults.NONE))).hasValue(0.75);
  }

  @Test
  void read_folderOfAnEvaluation_joinsCompletionsAndPrompts() throws IOException {
    Files.writeString(
        folder.resolve("results.jsonl"),
        """
        {"task":"t","id":"a","sample":0,"reward":0.0,"passed":false,"outcome":"scored"}
        {"task":"t","id":"a","sample":1,"reward":1.0,"passed":true,"outcome":"scored"}
        {"task":"u","id":"a","sample":0,"reward":1.0,"passed":true,"outcome":"scored"}
        {"task":"t","id":"b","sample":0,"reward":0.0,"passed":false,"outcome":"crash"}
        """);
    Files.writeString(
        folder.resolve("completions.jsonl"),
        """
        {"task":"t","id":"a","sample":0,"completion":"wrong"}
        {"task":"t","id":"a","sample":1,"completion":"right"}
        {"task":"u","id":"a","sample":0,"completion":"other"}
        {"task":"t","id":"b","sample":0,"completion":"none"}
        """);
    Files.writeString(
        folder.resolve("prompts.jsonl"),
        """
        {"task":"t","id":"a","source":"s","prompt":"ask"}
        {"task":"t","id":"b","source":"s","prompt":"ask b"}
        """);

    assertThat(ResultFiles.read(List.of(folder), "t", PassMark.FULL).byId())
        .containsExactly(
            Map.entry("a", new PromptResults(2, 1, 1, 0, List.of("right"), "ask", "s")),
            Map.entry("b", new PromptResults(0, 0, 0, 1, List.of(), "ask b", "s")));
    assertThat(
            Objects.requireNonNull(
                ResultFiles.read(List.of(folder), "", PassMark.FULL).byId().get("a")))
        .isEqualTo(new PromptResults(3, 2, 2, 0, List.of("right", "other"), "ask", "s"));
  }

  @Test
  void read_rolloutsOfARun_takesTheirGroups() throws IOException {
    Path traces = Files.createDirectory(folder.resolve("traces"));
    Files.writeString(
        traces.resolve("rollouts.jsonl"),
        """
        {"prompt_id":"a","prompt":"1+1=","completions":["2","3","4"],"rewards":[1.0,null,0.0]}
        {"prompt_id":"a","prompt":"1+1=","completions":["2"],"rewards":[1.0],"episodes":[{}]}
        """);

    assertThat(ResultFiles.read(List.of(folder), "", PassMark.FULL).byId())
        .containsExactly(Map.entry("a", new PromptResults(3, 2, 2, 1, List.of("2"), "1+1=", "")));
  }

  @Test
  void read_folderOfPassAtK_takesScoresAndPrompts() throws IOException {
    Files.writeString(
        folder.resolve("verification_results.jsonl"),
        """
        {"prompt_id":"a","num_completions":3,"num_correct":2,"pass_rate":0.67,"scores":[1.0,0.0,0.5],"completions":[{"text":"x","score":1.0},{"text":"y","score":0.0},{"text":"z","score":0.5}]}
        {"prompt_id":"b","num_completions":4,"num_correct":1,"pass_rate":0.25}
        """);
    Files.writeString(
        folder.resolve("completions.jsonl"),
        """
        {"prompt_id":"a","prompt":"Q: a","problem":"a","completions":[{"text":"x","finish_reason":"stop","num_tokens":3}]}
        {"prompt_id":"c","prompt":"not measured","completions":[]}
        """);

    assertThat(ResultFiles.read(List.of(folder), "", PassMark.FULL).byId())
        .containsExactly(
            Map.entry("a", new PromptResults(3, 1.5, 1, 0, List.of("x"), "Q: a", "")),
            Map.entry("b", results(4, 1, 1)));
  }

  @Test
  void read_badLinesOrPlaces_areNamed() {
    assertThatThrownBy(() -> read("{\"id\": \"a\"}\n{\"id\": \"b\", \"reward\": \"1\"}\n{"))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("lines.jsonl:1: \"reward\" must be a number, not absent")
        .hasMessageContaining("lines.jsonl:2: \"reward\" must be a number, not \"1\"")
        .hasMessageContaining("lines.jsonl:3");
    assertThatThrownBy(
            () -> read("{\"prompt_id\": \"a\", \"num_completions\": 1, \"num_correct\": 2}"))
        .hasMessageContaining("\"num_correct\" must be at most num_completions, 1, not 2");
    assertThatThrownBy(() -> ResultFiles.read(List.of(folder.resolve(".")), "", PassMark.FULL))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("holds no results");
  }

  @Test
  void of_passAt_isTheUnbiasedEstimateOrUnknown() {
    assertThat(Difficulty.parse("pass@2").of(results(4, 1, 1))).hasValue(0.5);
    assertThat(Difficulty.parse("pass@8").of(results(4, 1, 1))).isEmpty();
    assertThat(MEAN.of(PromptResults.NONE)).isEmpty();
    assertThatThrownBy(() -> Difficulty.parse("pass@0"))
        .hasMessage("a key is mean or pass@K with K from 1, such as pass@4, not pass@0");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void curriculum_anyBand_holdsItsIdsOnceInOrder(long seed) {
    Random random = new Random(seed);
    Map<String, PromptResults> byId = new LinkedHashMap<>();
    IntStream.range(0, 1 + random.nextInt(50))
        .forEach(i -> byId.put("p" + i, results(random.nextInt(5), random.nextInt(5) * 0.25, 0)));
    StoredResults all = new StoredResults(byId);
    double least = random.nextInt(4) * 0.25;
    Band band = new Band(least, least + 0.25, random.nextBoolean());

    List<String> rising = all.curriculum(MEAN, band, false, seed);

    assertThat(rising)
        .containsExactlyInAnyOrderElementsOf(
            byId.entrySet().stream()
                .filter(each -> each.getValue().judged() > 0)
                .filter(each -> band.holds(each.getValue().sum() / each.getValue().judged()))
                .map(Map.Entry::getKey)
                .toList());
    assertThat(rising)
        .extracting(id -> MEAN.of(byId.getOrDefault(id, PromptResults.NONE)).orElseThrow())
        .isSorted();
    assertThat(all.curriculum(MEAN, ALL, true, seed).reversed())
        .extracting(id -> MEAN.of(byId.getOrDefault(id, PromptResults.NONE)).orElseThrow())
        .isSorted();
  }

  @Test
  void curriculum_equalNumbers_areInAnOrderOfTheSeedAndNotOfTheData() {
    Map<String, PromptResults> byId = new LinkedHashMap<>();
    IntStream.range(0, 100).forEach(i -> byId.put("p" + i, results(1, 0, 0)));
    StoredResults all = new StoredResults(byId);

    assertThat(all.curriculum(MEAN, ALL, false, 1))
        .isNotEqualTo(List.copyOf(byId.keySet()))
        .isNotEqualTo(all.curriculum(MEAN, ALL, false, 2));
  }

  @Test
  void solved_band_takesDistinctCorrectCompletions() {
    Map<String, PromptResults> byId = new LinkedHashMap<>();
    byId.put("never", results(4, 0, 0));
    byId.put("seldom", results(4, 1, 1, "right"));
    byId.put("half", results(4, 2, 2, "a", "a", "b"));
    byId.put("partial", results(4, 1.5, 0));
    StoredResults all = new StoredResults(byId);

    assertThat(all.solved(MEAN, new Band(0, 0.5, false), 1, 42))
        .containsExactly(new Solved("seldom", "right", 0.25));
    assertThat(all.solved(MEAN, ALL, 9, 42))
        .containsExactlyInAnyOrder(
            new Solved("seldom", "right", 0.25),
            new Solved("half", "a", 0.5),
            new Solved("half", "b", 0.5));
    assertThat(all.solved(MEAN, ALL, 1, 42)).hasSize(2);
    assertThat(all.solved(MEAN, new Band(0.26, 0.5, false), 1, 42)).isEmpty();
  }
}
