package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import io.troupe.tasks.sets.DataSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PromptTemplateTest {
  private static final DataItem EXAMPLE = DataItem.of("e", "Q: 1+1?\nA:", "2", " 2.");
  private static final DataItem ITEM = DataItem.of("i", "Q: 1+2?\nA:", "3", " 3.");

  @TempDir private Path folder;

  private static PromptTemplate wording(PromptTemplate.PromptForm form) {
    return new PromptTemplate(
        form,
        "Be brief.",
        " So",
        "Examples:",
        List.of(EXAMPLE),
        (messages, generate, arguments) ->
            messages.stream()
                    .map(m -> "<" + m.role() + ">" + m.content())
                    .collect(Collectors.joining())
                + generate
                + arguments);
  }

  @Test
  void raw_allParts_areBlocksBeforeTheQuestion() throws RowException {
    assertThat(wording(PromptTemplate.PromptForm.RAW).text(ITEM))
        .isEqualTo("Be brief.\n\nExamples:\n\nQ: 1+1?\nA: 2.\n\nQ: 1+2?\nA: So");
    assertThat(wording(PromptTemplate.PromptForm.RAW).solution(ITEM)).isEqualTo(" 3.");
    assertThat(PromptTemplate.PLAIN.text(ITEM)).isEqualTo("Q: 1+2?\nA:");
  }

  @Test
  void chat_allParts_areTurnsWithoutThinking() throws RowException {
    assertThat(wording(PromptTemplate.PromptForm.CHAT).text(ITEM))
        .isEqualTo(
            "<system>Be brief.<user>Q: 1+1?\nA:<assistant>2.<user>Examples:\n\nQ: 1+2?\nA:"
                + "true{} So");
    assertThat(wording(PromptTemplate.PromptForm.CHAT).solution(ITEM)).isEqualTo("3.");
  }

  @Test
  void examples_ofAFile_areItsFirstRowsAsTheSetReadsThem() throws IOException, RowException {
    Path file =
        Sets.file(
            folder,
            "shots.jsonl",
            """
            {"question": "1+1?", "answer": "It is 2.\\n#### 2"}
            {"question": "1+2?", "answer": "It is 3.\\n#### 3"}
            {"question": "1+3?", "answer": "It is 4.\\n#### 4"}
            """);
    List<DataItem> shots = DataSetSettings.examples(List.of(file), DataSet.GSM8K.format(), 2);
    PromptTemplate wording =
        new PromptTemplate(
            PromptTemplate.PromptForm.RAW, "", "", "", shots, PromptTemplate.noTemplate());

    assertThat(wording.text(ITEM))
        .isEqualTo(
            """
            Q: 1+1?
            A: It is 2.
            The answer is 2.

            Q: 1+2?
            A: It is 3.
            The answer is 3.

            Q: 1+2?
            A:\
            """);
    assertThatThrownBy(() -> DataSetSettings.examples(List.of(file), DataSet.GSM8K.format(), 4))
        .isInstanceOf(TaskDataException.class)
        .hasMessage(file + ": 4 examples are asked for, and there are 3");
  }

  @Test
  void row_withItsOwnLimit_isKnownByItsPrompt() throws IOException, RowException {
    Path file =
        Sets.file(
            folder,
            "g.jsonl",
            """
            {"question": "a", "answer": "#### 1", "max_completion_tokens": 7}
            {"question": "b", "answer": "#### 2"}
            """);

    assertThat(Sets.of(DataSet.GSM8K, file).load().ownLimits())
        .containsExactly(Map.entry(new PromptId("gsm8k_0"), 7));
    Path bad =
        Sets.file(
            folder,
            "bad.jsonl",
            "{\"question\": \"a\", \"answer\": \"#### 1\", \"max_completion_tokens\": 0}");
    assertThatThrownBy(() -> Sets.of(DataSet.GSM8K, bad).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining(
            "\"max_completion_tokens\" must be a whole number of tokens, 1 or more, not 0");
  }

  @Test
  void row_withItsOwnWording_overridesTheRuns() throws IOException, RowException {
    Path file =
        Sets.file(
            folder,
            "g.jsonl",
            """
            {"question": "a", "answer": "#### 1", "system_prompt": "S", "assistant_prefix": "P"}
            {"question": "b", "answer": "#### 2"}
            """);
    PromptTemplate run =
        new PromptTemplate(
            PromptTemplate.PromptForm.RAW, "R", "", "", List.of(), PromptTemplate.noTemplate());

    assertThat(Sets.of(DataSet.GSM8K, file).wording(run, SourceLimits.NONE).prompts())
        .extracting(Prompt::text)
        .containsExactly("S\n\nQ: a\nA:P", "R\n\nQ: b\nA:");
  }

  @Test
  void headRoom_promptsWithoutIt_areDroppedAndCounted() throws IOException, RowException {
    Path file =
        Sets.file(
            folder,
            "g.jsonl",
            """
            {"question": "short", "answer": "#### 1"}
            {"question": "rather longer", "answer": "#### 2"}
            """);

    Task task =
        new ContextFilter(prompt -> prompt.text().length(), 16, 5)
            .filter(Sets.of(DataSet.GSM8K, file).load());

    assertThat(task.train()).extracting(Prompt::text).containsExactly("Q: short\nA:");
    assertThat(task.leftOut())
        .extracting(ExcludedPrompts::describe)
        .containsExactly(
            "gsm8k: 1 of 2 prompts left out, without room for a completion of 5 tokens in a context"
                + " of 16, such as gsm8k_1; raise policy.context_length, or lower"
                + " rollout.max_tokens and evaluation.max_tokens");
  }
}
