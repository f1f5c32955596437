package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.DataSetSettings.Rows;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.sets.DataSet;
import io.troupe.tasks.sets.FieldColumns;
import io.troupe.tasks.sets.FieldRows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The prompts of published sets whose questions are used as they are, and of a user's own sets, as
 * a model sees them.
 */
final class PublishedPromptsTest {
  private static final Path DATA = Path.of("../../conf/data");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  private static Prompt first(DataSet set, String file) throws IOException {
    return Sets.of(set, DATA.resolve(file)).prompts().getFirst();
  }

  @Test
  void humanEval_prompt_isTheFunctionsHeadAsItStands() throws IOException {
    Prompt prompt = first(DataSet.HUMANEVAL, "humaneval/test.jsonl.gz");

    assertThat(prompt.text())
        .isEqualTo(
            """
            from typing import List


            def has_close_elements(numbers: List[float], threshold: float) -> bool:
                \""" Check if in given list of numbers, are any two numbers closer to each other than
                given threshold.
                >>> has_close_elements([1.0, 2.0, 3.0], 0.5)
                False
                >>> has_close_elements([1.0, 2.8, 3.0, 4.0, 5.0, 2.0], 0.3)
                True
                \"""
            """);
    assertThat(prompt.solution()).startsWith("    for idx, elem in enumerate(numbers):\n");
    JsonNode answer = JSON.readTree(prompt.answer());
    assertThat(answer.path("entry_point").asText()).isEqualTo("has_close_elements");
    assertThat(answer.path("prompt").asText()).isEqualTo(prompt.text());
    assertThat(answer.path("test").asText()).contains("def check(candidate):");
  }

  @Test
  void ifEval_prompt_comesWithItsInstructionsAndTheirSettings() throws IOException {
    Prompt prompt = first(DataSet.IFEVAL, "ifeval/input_data.jsonl.gz");

    String text =
        "Write a 300+ word summary of the wikipedia page"
            + " \"https://en.wikipedia.org/wiki/Raymond_III,_Count_of_Tripoli\". Do not use any"
            + " commas and highlight at least 3 sections that has titles in markdown format, for"
            + " example *highlighted section part 1*, *highlighted section part 2*, *highlighted"
            + " section part 3*.";
    assertThat(prompt.text()).isEqualTo(text);
    JsonNode answer = JSON.readTree(prompt.answer());
    assertThat(answer.path("prompt").asText()).isEqualTo(text);
    assertThat(answer.path("instruction_id_list"))
        .isEqualTo(
            JSON.readTree(
                """
                ["punctuation:no_comma", "detectable_format:number_highlighted_sections",
                 "length_constraints:number_words"]
                """));
    assertThat(answer.path("kwargs"))
        .isEqualTo(
            JSON.readTree(
                """
                [{}, {"num_highlights": 3}, {"relation": "at least", "num_words": 300}]
                """));
  }

  @Test
  void ifBench_settings_areThoseThatAreGiven() throws IOException {
    Prompt prompt = first(DataSet.IFBENCH, "ifbench/test.jsonl.gz");

    assertThat(prompt.text())
        .startsWith("What should the world's smartest man, surrounded by corruption,")
        .endsWith(
            "keyword labyrinth five times in your response, and keyword paradox seven times in your"
                + " response.");
    assertThat(JSON.readTree(prompt.answer()).path("kwargs"))
        .isEqualTo(
            JSON.readTree(
                """
                [{"keyword1": "kaleidoscope", "keyword2": "nebula", "keyword3": "whisper",
                  "keyword4": "labyrinth", "keyword5": "paradox"}]
                """));
  }

  @ParameterizedTest
  @EnumSource(names = {"AIME", "BEYONDAIME", "DEEPSCALER"})
  void competition_row_isAskedAsMathIs(DataSet set) throws IOException {
    String row =
        """
        {"problem": "What is $1+1$?", "answer": 2, "solution": " It is $\\\\boxed{2}$. "}
        """;

    assertThat(Sets.of(set, Sets.file(folder, "rows.jsonl", row)).prompts())
        .containsExactly(
            new Prompt(
                new PromptId(set.key() + "_0"),
                set.key(),
                "Problem:\nWhat is $1+1$?\n\nSolution:",
                "2",
                " It is $\\boxed{2}$."));
  }

  @Test
  void rlvrIfEval_row_isTheUsersMessageWithItsLabel() throws IOException {
    String row =
        """
        {"messages": [{"role": "user", "content": "Say hi. Use no commas."}], "ground_truth": "{\\"func_name\\": \\"validate_no_commas\\"}"}
        """;

    assertThat(Sets.of(DataSet.RLVR_IFEVAL, Sets.file(folder, "rows.jsonl", row)).prompts())
        .containsExactly(
            new Prompt(
                new PromptId("ifeval_0"),
                "rlvr_ifeval",
                "Say hi. Use no commas.",
                "{\"func_name\": \"validate_no_commas\"}",
                ""));
  }

  @Test
  void rlvrIfEval_rowOfSeveralMessages_isAskedWholeOrRefused() throws IOException {
    String row =
        """
        {"messages": [{"role": "user", "content": "Say hi."}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "Use no commas."}%s], "ground_truth": "x"}
        """;
    PromptTemplate wording =
        new PromptTemplate(
            PromptTemplate.PromptForm.CHAT,
            "",
            "",
            "",
            List.of(),
            (messages, _, _) -> String.join("|", messages.stream().map(Message::content).toList()));

    assertThat(
            Sets.of(DataSet.RLVR_IFEVAL, Sets.file(folder, "rows.jsonl", row.formatted("")))
                .wording(wording, SourceLimits.NONE)
                .prompts())
        .extracting(Prompt::text)
        .containsExactly("Say hi.|Hi|Use no commas.");
    assertThatThrownBy(
            () ->
                Sets.of(DataSet.RLVR_IFEVAL, Sets.file(folder, "rows.jsonl", row.formatted("")))
                    .prompts())
        .hasMessageContaining("\"messages\" must be a text where task.template is raw");
    String answered = row.formatted(", {\"role\": \"assistant\", \"content\": \"ok\"}");
    assertThatThrownBy(
            () -> Sets.of(DataSet.RLVR_IFEVAL, Sets.file(folder, "rows.jsonl", answered)).prompts())
        .hasMessageContaining("\"messages\" must end with a message of the user");
  }

  @Test
  void ownFile_questionAndFields_areThoseNamed() throws IOException {
    Path file =
        Sets.file(
            folder,
            "own.jsonl",
            """
            {"key": "a", "q": "1+1", "gold": "2", "worked": " 2"}
            {"key": "b", "q": "x", "gold": {"tests": ["assert f()"]}, "judge": "mbpp"}
            """);
    DataSetSettings plain = Sets.of(DataSet.GSM8K, file).settings();
    DataSetSettings own =
        new DataSetSettings(
            "jsonl",
            "",
            "math",
            new Rows.Files(
                List.of(file),
                _ ->
                    new FieldRows(
                        new FieldColumns("key", "Q: {q}\nA:", "gold", "worked", "judge"),
                        name ->
                            name.equals("mbpp")
                                ? new JudgedBy.NamedFields("tests")
                                : new JudgedBy.OneAnswer()),
                "",
                RefusalLimit.NONE),
            plain.heldOut(),
            plain.facets(),
            plain.cut(),
            plain.wording(),
            plain.limits(),
            plain.order(),
            1);

    List<Prompt> prompts = DataSetTask.single(own).train();
    assertThat(prompts)
        .extracting(prompt -> prompt.id().value(), Prompt::text, Prompt::answer, Prompt::solution)
        .containsExactly(
            tuple("a", "Q: 1+1\nA:", "2", " 2"),
            tuple("b", "Q: x\nA:", "{\"tests\":[\"assert f()\"]}", ""));
  }
}
