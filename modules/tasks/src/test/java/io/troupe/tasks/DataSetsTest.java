package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Templates, answers and ids of each published data set, letter by letter. */
final class DataSetsTest {
  private static final Path DATA = Path.of("../../conf/data");

  @TempDir private Path folder;

  private Prompt only(DataSet set, String row) throws IOException {
    return Sets.of(set, Sets.file(folder, "rows.jsonl", row)).prompts().getFirst();
  }

  @Test
  void math_rowOfTheSource_takesTheLastBoxAndANormalisedSubject() throws IOException {
    assertThat(
            only(
                DataSet.MATH,
                """
                {"problem": "P?", "level": "Level 3", "type": "Counting & Probability", "solution": "\\\\boxed{1}, so $\\\\boxed{\\\\frac{1}{2}}$."}
                """))
        .isEqualTo(
            new Prompt(
                new PromptId("math_counting_and_probability_0"),
                "math",
                "Problem:\nP?\n\nSolution:",
                "\\frac{1}{2}",
                " \\boxed{1}, so $\\boxed{\\frac{1}{2}}$."));
  }

  @Test
  void math_filters_leaveIdsAsTheyAre() throws IOException {
    String rows =
        """
        {"problem": "a", "level": "Level 1", "type": "Algebra", "solution": "\\\\boxed{1}"}
        {"problem": "b", "level": "Level 2", "type": "Algebra", "solution": "\\\\boxed{2}"}
        {"problem": "c", "level": "Level 2", "type": "Geometry", "solution": "\\\\boxed{3}"}
        """;
    DataSetTask task =
        Sets.of(DataSet.MATH, Sets.file(folder, "m.jsonl", rows))
            .facets(Map.of("level", List.of("2")))
            .load();

    assertThat(task.train())
        .extracting(p -> p.id().value())
        .containsExactly("math_algebra_1", "math_geometry_0");
    assertThat(task.sources().getFirst().report().rows()).isEqualTo(3);
    assertThat(task.leftOut())
        .extracting(ExcludedPrompts::describe)
        .containsExactly(
            "math: 1 of 3 rows left out, of another level than 2, such as math_algebra_0; change"
                + " levels, of which there are 1, 2");
  }

  @Test
  void apps_rows_areTexts_orValuesOfAFunction_orSkippedWithoutTests() throws IOException {
    String rows =
        """
        {"problem_id": 4, "question": "Q", "starter_code": "", "difficulty": "interview", "solutions": "[\\"s\\"]", "input_output": "{\\"inputs\\": [\\"1\\\\n\\", [\\"a\\", \\"b\\"]], \\"outputs\\": [\\"2\\", [\\"c\\"]]}"}
        {"problem_id": 5, "question": "Q", "starter_code": "def f():", "difficulty": "interview", "solutions": "", "input_output": "{\\"fn_name\\": \\"f\\", \\"inputs\\": [[1, [2]]], \\"outputs\\": [3]}"}
        {"problem_id": 6, "question": "Q", "input_output": ""}
        {"problem_id": 7, "question": "Q", "input_output": "{\\"inputs\\": [], \\"outputs\\": []}"}
        """;
    DataSetTask task = Sets.of(DataSet.APPS, Sets.file(folder, "a.jsonl", rows)).load();

    assertThat(task.train())
        .containsExactly(
            new Prompt(
                new PromptId("apps_4"),
                "apps",
                "Q",
                "{\"inputs\":[\"1\\n\",\"a\\nb\"],\"outputs\":[\"2\",\"c\"]}",
                "s"),
            new Prompt(
                new PromptId("apps_5"),
                "apps",
                "Q\n\nStarter code:\n```python\ndef f():\n```\n",
                "{\"inputs\":[[1,[2]]],\"outputs\":[3],\"fn_name\":\"f\"}",
                ""));
    assertThat(task.leftOut())
        .extracting(ExcludedPrompts::describe)
        .containsExactly(
            "apps: 2 of 4 rows left out, without tests, such as apps_6; add tests to the data");
  }

  @Test
  void apps_floatsOfTests_remainFloats() throws IOException {
    String row =
        "{\"problem_id\": 4, \"question\": \"Q\", \"input_output\": \"{%s\\\"inputs\\\": [[2.0, 1.5e1]],"
            + " \\\"outputs\\\": [-3.50]}\"}\n";
    Path file = Sets.file(folder, "a.jsonl", row.formatted("\\\"fn_name\\\": \\\"f\\\", "));

    assertThat(Sets.of(DataSet.APPS, file).prompts().getFirst().answer())
        .isEqualTo("{\"inputs\":[[2.0,15.0]],\"outputs\":[-3.50],\"fn_name\":\"f\"}");
    assertThat(
            Sets.of(DataSet.APPS, Sets.file(folder, "b.jsonl", row.formatted("")))
                .prompts()
                .getFirst()
                .answer())
        .isEqualTo("{\"inputs\":[\"2.0\\n15.0\"],\"outputs\":[\"-3.50\"]}");
  }

  @Test
  void ifMulti_label_isKeptAsItIs() throws IOException {
    assertThat(
            only(
                DataSet.IF_MULTI,
                """
                {"messages": [{"role": "user", "content": "Hi"}], "ground_truth": "[{'instruction_id': ['x:y'], 'kwargs': [None]}]"}
                """))
        .isEqualTo(
            new Prompt(
                new PromptId("if_multi_0"),
                "if_multi",
                "Hi",
                "[{'instruction_id': ['x:y'], 'kwargs': [None]}]",
                ""));
  }

  @ParameterizedTest
  @CsvSource({
    "MATH, math500/test.jsonl.gz, 500, math_test_precalculus_807",
    "MBPP, mbpp/mbpp.jsonl.gz, 974, mbpp_1",
    "MBPP, mbpp/sanitized-mbpp.json.gz, 427, mbpp_2",
    "HUMANEVAL, humaneval/test.jsonl.gz, 164, HumanEval/0",
    "IFEVAL, ifeval/input_data.jsonl.gz, 541, ifeval_test_1000",
    "IFBENCH, ifbench/test.jsonl.gz, 300, ifbench_0",
    "MATH, linear/train.jsonl, 200, math_algebra_0",
    "IFEVAL, instructions/train.jsonl, 120, ifeval_test_own_0",
  })
  void shippedFile_isWhole(DataSet set, String file, int rows, String firstId) throws IOException {
    List<Prompt> prompts = Sets.of(set, DATA.resolve(file)).prompts();

    assertThat(prompts).hasSize(rows);
    assertThat(prompts.getFirst().id()).isEqualTo(new PromptId(firstId));
  }

  @Test
  void mbpp_firstRow_isTheBenchmarksPrompt() throws IOException {
    Prompt first = Sets.of(DataSet.MBPP, DATA.resolve("mbpp/mbpp.jsonl.gz")).prompts().get(1);

    assertThat(first.text())
        .isEqualTo(
            """
            You are an expert Python programmer, and here is your task: Write a function to find the similar elements from the given two tuple lists. Your code should pass these tests:

            assert similar_elements((3, 4, 5, 6),(5, 7, 4, 10)) == (4, 5)
            assert similar_elements((1, 2, 3, 4),(5, 4, 3, 7)) == (3, 4)
            assert similar_elements((11, 12, 14, 13),(17, 15, 14, 13)) == (13, 14)
            [BEGIN]
            """);
    assertThat(first.solution()).doesNotContain("\r").endsWith("\n[DONE]");
  }

  @ParameterizedTest
  @CsvSource({"train, 374", "validation, 90", "test, 500", "prompt, 10"})
  void mbpp_splits_areThoseOfTheTaskIds(String split, int rows) throws IOException {
    assertThat(
            Sets.of(DataSet.MBPP, DATA.resolve("mbpp/mbpp.jsonl.gz"))
                .facets(Map.of("split", List.of(split)))
                .prompts())
        .hasSize(rows);
  }

  @Test
  void ids_thatStandTwice_areRefusedWithBothLines() throws IOException {
    Path file =
        Sets.file(
            folder,
            "h.jsonl",
            "{\"task_id\": \"H/1\", \"prompt\": \"p\", \"test\": \"t\", \"entry_point\": \"f\"}\n"
                .repeat(2));

    assertThatThrownBy(() -> Sets.of(DataSet.HUMANEVAL, file).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining(
            "%s:2: ids must not occur twice, not H/1; %s:1 has it too".formatted(file, file));
  }

  @Test
  void mixture_sameSetUnderTwoAliases_keepsBothApart() throws IOException {
    Path file = DATA.resolve("linear/train.jsonl");
    DataSetTask task =
        DataSetTask.mixture(
            List.of(
                Sets.of(DataSet.MATH, file).alias("a").settings(),
                Sets.of(DataSet.MATH, file).alias("b").settings()),
            new DataSetTask.Mix.Weighted(1));

    assertThat(task.train()).hasSize(400).extracting(Prompt::source).contains("a", "b");
    assertThat(task.train().getFirst().id().value()).matches("[ab]/math_algebra_0");
    assertThat(task.order()).isEqualTo(Task.Order.LISTED);
    assertThatThrownBy(
            () ->
                DataSetTask.mixture(
                    List.of(
                        Sets.of(DataSet.MATH, file).settings(),
                        Sets.of(DataSet.MATH, file).settings()),
                    new DataSetTask.Mix.Sequential()))
        .hasMessageContaining("give one of them another alias");
  }

  @Test
  void curriculum_listsOrderAndExcludes_andRefusesAboveTheThreshold() throws IOException {
    Sets set = Sets.of(DataSet.MATH, DATA.resolve("linear/train.jsonl"));
    List<String> ids = List.of("math_algebra_7", "nobody", "math_algebra_3");

    DataSetTask task = set.order(new Ordering.Listed("order.txt", ids, 0.4), 1).load();

    assertThat(task.train())
        .extracting(p -> p.id().value())
        .containsExactly("math_algebra_7", "math_algebra_3");
    assertThat(task.order()).isEqualTo(Task.Order.LISTED);
    assertThat(task.leftOut())
        .extracting(ExcludedPrompts::describe)
        .containsExactly(
            "math: 198 of 200 prompts left out, not listed in the order file, such as"
                + " math_algebra_0; add them to the file of order",
            "math: 1 of 3 ids of the order file left out, which name no prompt, such as nobody;"
                + " correct the file of order");
    assertThatThrownBy(() -> set.order(new Ordering.Listed("order.txt", ids, 0.3), 1).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessageStartingWith("order.txt: 1 of its 3 ids match no prompt");
    assertThatThrownBy(() -> Curriculum.parse("order.txt", "a\n\nb\na\n"))
        .hasMessageStartingWith(
            "order.txt:4: an order file names an id once, but line 1 has a too");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void weighted_anySeed_usesEverythingOnceInItsOrder(long seed) {
    List<List<Integer>> lists =
        List.of(List.of(1, 2, 3, 4, 5), List.of(), List.of(11, 12), List.of(21));

    List<Integer> mixed = DataSetMixing.weighted(lists, List.of(3.0, 1.0, 1.0, 0.1), seed);

    assertThat(mixed).hasSize(8).containsSubsequence(1, 2, 3, 4, 5).containsSubsequence(11, 12);
    assertThat(mixed)
        .contains(21)
        .isEqualTo(DataSetMixing.weighted(lists, List.of(3.0, 1.0, 1.0, 0.1), seed));
  }
}
