package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.DataSetSettings.Rows;
import io.troupe.tasks.PromptTemplate.PromptForm;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.FieldColumns;
import io.troupe.tasks.sets.FieldRows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of a user's own, in the forms that other programs of the field read. */
final class OwnRowsTest {
  private static final FieldColumns USUAL =
      new FieldColumns("", "{prompt}", "answer", "solution", "verifier");

  /** {@code <role>content</>} for each message, and the tools in front. */
  private static final ChatTemplate TEMPLATE =
      (messages, generation, arguments) -> {
        StringBuilder text = new StringBuilder();
        if (arguments.containsKey("tools")) {
          text.append(arguments.get("tools"));
        }
        for (Message each : messages) {
          text.append("<%s>%s</>".formatted(each.role(), each.content()));
        }
        return text.append(generation ? "<assistant>" : "").toString();
      };

  @TempDir private Path folder;

  private Task load(FieldColumns columns, PromptTemplate wording, double share, String rows)
      throws IOException {
    return load(columns, wording, share, new HeldOut.Share(0, 1), rows);
  }

  private Task load(HeldOut heldOut, String rows) throws IOException {
    return load(USUAL, PromptTemplate.PLAIN, 0, heldOut, rows);
  }

  private Task load(
      FieldColumns columns, PromptTemplate wording, double share, HeldOut heldOut, String rows)
      throws IOException {
    return DataSetTask.single(
        new DataSetSettings(
            "jsonl",
            "",
            "math",
            new Rows.Files(
                List.of(Sets.file(folder, "rows.jsonl", rows)),
                _ -> new FieldRows(columns, OwnRowsTest::judgedBy),
                "",
                new RefusalLimit(share, "task.max_refused_share"),
                (source, verifier) -> source.endsWith("/mine") && verifier.equals("mine")),
            heldOut,
            Map.of(),
            LengthLimits.NONE,
            wording,
            SourceLimits.NONE,
            new Ordering.Natural(),
            1));
  }

  private static JudgedBy judgedBy(String verifier) {
    return switch (verifier) {
      case "text" -> new JudgedBy.AcceptedTexts();
      case "format" -> new JudgedBy.AnyAnswer();
      default -> new JudgedBy.OneAnswer();
    };
  }

  private static PromptTemplate chat(String system) {
    return new PromptTemplate(PromptForm.CHAT, system, "", "", List.of(), TEMPLATE);
  }

  private Prompt only(FieldColumns columns, PromptTemplate wording, String row) throws IOException {
    return load(columns, wording, 0, row).train().getFirst();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"1+1?\"}]} | <user>1+1?</><assistant>",
        "{\"prompt\": [{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\","
            + " \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}, {\"role\":"
            + " \"user\", \"content\": \"c\"}]} |"
            + " <system>S</><user>a</><assistant>b</><user>c</><assistant>",
        "{\"prompt\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"},"
            + " {\"type\": \"text\", \"text\": \"b\"}], \"name\": null}]} | <user>ab</><assistant>",
        "{\"prompt\": \"[{\\\"role\\\": \\\"user\\\", \\\"content\\\": \\\"q\\\"}]\"}"
            + " | <user>q</><assistant>",
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"q\"}], \"tools\": [{\"name\": \"add\"}]}"
            + " | [{type=function, function={name=add}}]<user>q</><assistant>",
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"q\"}], \"tools\": \" \"}"
            + " | <user>q</><assistant>",
        "{\"prompt\": \"[1, 2] is what?\"} | <user>[1, 2] is what?</><assistant>",
        "{\"prompt\": 12} | <user>12</><assistant>",
      })
  void question_anyForm_isShownByTheChatTemplate(String row, String text) throws IOException {
    Prompt prompt = only(USUAL, chat(""), row.replaceFirst("}$", ", \"answer\": 1}"));

    assertThat(prompt.text()).isEqualTo(text);
  }

  @Test
  void row_verifierThatReadsRows_isKeptWithEveryColumn() throws IOException {
    String mine = "{\"prompt\":\"q\",\"answer\":2.50,\"verifier\":\"mine\",\"level\":[3,null]}";
    String other = "{\"prompt\":\"r\",\"answer\":1,\"level\":4}";

    assertThat(load(USUAL, PromptTemplate.PLAIN, 0, mine + "\n" + other).train())
        .extracting(prompt -> prompt.row().json())
        .containsExactlyInAnyOrder(mine, "{}");
  }

  @Test
  void question_conversation_hasTheRunsSystemPromptUnlessItHasItsOwn() throws IOException {
    String user = "{\"role\": \"user\", \"content\": \"q\"}";
    String own = "{\"role\": \"system\", \"content\": \"O\"}, " + user;

    assertThat(
            load(
                    USUAL,
                    chat("S"),
                    0,
                    "{\"prompt\": [%s], \"answer\": 1}\n{\"prompt\": [%s], \"answer\": 1}"
                        .formatted(user, own))
                .train())
        .extracting(Prompt::text)
        .containsExactly("<system>S</><user>q</><assistant>", "<system>O</><user>q</><assistant>");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "\"18\"       | 18",
        "18           | 18",
        "9.0          | 9",
        "12345678.0   | 12345678",
        "2.50         | 2.50",
        "true         | true",
        "[\"18\"]     | 18",
        "[7]          | 7",
      })
  void answer_oneValue_isItsText(String value, String answer) throws IOException {
    assertThat(
            only(
                    USUAL,
                    PromptTemplate.PLAIN,
                    "{\"prompt\": \"q\", \"answer\": %s}".formatted(value))
                .answer())
        .isEqualTo(answer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          a system message is refused | \"role\": \"system\" | no system messages
          a user's text is left out   | secret           | leaves out the text of the user
          """)
  void question_rowThatTheTemplateDoesNotShow_isARefusedRow(String name, String part, String why)
      throws IOException {
    ChatTemplate selective =
        (messages, _, _) -> {
          if (messages.getFirst().role().equals("system")) {
            throw new IllegalArgumentException("no system messages");
          }
          return messages.getLast().content().replace("secret", "");
        };
    PromptTemplate wording = new PromptTemplate(PromptForm.CHAT, "", "", "", List.of(), selective);
    String rows =
        """
        {"prompt": "q", "answer": 1}
        {"prompt": [{%s, "content": "secret"}, {"role": "user", "content": "%s"}], "answer": 1}
        {"prompt": "r", "answer": 1}
        """
            .formatted(
                part.startsWith("\"") ? part : "\"role\": \"user\"", part.replace('"', '\''));

    Task task = load(USUAL, wording, 0.5, rows);

    assertThat(task.train()).as(name).hasSize(2);
    assertThat(task.leftOut())
        .singleElement()
        .satisfies(
            left ->
                assertThat(left.describe()).contains("1 of 3 rows left out", why, "rows.jsonl:2"));
    assertThatThrownBy(() -> load(USUAL, wording, 0, rows))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("rows.jsonl:2: \"prompt\" must be");
  }

  @Test
  void question_textThatTheTemplateDoesNotShow_isARefusedRow() throws IOException {
    PromptTemplate wording =
        new PromptTemplate(
            PromptForm.CHAT,
            "",
            "",
            "",
            List.of(),
            (messages, _, _) -> messages.getLast().content().replace("secret", ""));
    String rows = "{\"prompt\": \"q\", \"answer\": 1}\n{\"prompt\": \"a secret\", \"answer\": 1}";

    assertThat(load(USUAL, wording, 0.5, rows).train()).hasSize(1);
    assertThatThrownBy(() -> load(USUAL, wording, 0, rows))
        .hasMessageContaining(
            "rows.jsonl:2: the question must be shown by the policy's chat template, which leaves"
                + " out the text of the user, not a secret");
  }

  @Test
  void answer_severalAcceptedTexts_areALineEach() throws IOException {
    assertThat(
            only(
                    USUAL,
                    PromptTemplate.PLAIN,
                    "{\"prompt\": \"q\", \"answer\": [\"yes\", \"a\\nb\"], \"verifier\": \"text\"}")
                .answer())
        .isEqualTo("yes\na b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\"", "null", "[]"})
  void answer_blankWhereTheVerifierNeedsNone_isNone(String answer) throws IOException {
    String row = "{\"prompt\": \"q\", \"answer\": %s, \"verifier\": \"format\"}".formatted(answer);

    assertThat(only(USUAL, PromptTemplate.PLAIN, row).answer()).isEmpty();
  }

  @Test
  void answer_listOfFloats_isHandedOnAsItsJson() throws IOException {
    String row = "{\"prompt\": \"q\", \"answer\": [2.0, 3], \"verifier\": \"format\"}";

    assertThat(only(USUAL, PromptTemplate.PLAIN, row).answer()).isEqualTo("[2.0,3]");
  }

  /** Rows as TRL, verl, OpenRLHF and sets of the hub have them: columns, then text and answer. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{prompt} | solution | {\"prompt\": \"q\", \"solution\": \"$9$\"} | q | $9$",
        "{problem} | answer | {\"problem\": \"q\", \"solution\": \"so 9\", \"answer\": \"9\"} | q |"
            + " 9",
        "{prompt} | reward_model.ground_truth | {\"data_source\": \"openai/gsm8k\", \"prompt\":"
            + " \"q\", \"ability\": \"math\", \"reward_model\": {\"style\": \"rule\","
            + " \"ground_truth\": \"72\"}, \"extra_info\": {\"index\": 0, \"split\": \"train\"}} |"
            + " q | 72",
        "{input} | label | {\"input\": \"q\", \"label\": \"9\"} | q | 9",
        "{instruction} {input} | output | {\"instruction\": \"add\", \"input\": \"\", \"output\":"
            + " 2} | add  | 2",
        "{messages.0.content} | answer | {\"messages\": [{\"role\": \"user\", \"content\": \"q\"},"
            + " {\"role\": \"assistant\", \"content\": \"a\"}], \"answer\": 2} | q | 2",
        "{a.b} | answer | {\"a.b\": \"q\", \"answer\": 2} | q | 2",
      })
  void columns_ofOtherPrograms_areReached(
      String question, String answer, String row, String text, String expected) throws IOException {
    Prompt prompt =
        only(
            new FieldColumns("", question, answer, "solution", "verifier"),
            PromptTemplate.PLAIN,
            row);

    assertThat(prompt.text().strip()).isEqualTo(text.strip());
    assertThat(prompt.answer()).isEqualTo(expected);
  }

  @Test
  void solution_thatIsTheAnswer_isNotImitated() throws IOException {
    FieldColumns columns = new FieldColumns("", "{prompt}", "solution", "solution", "verifier");

    assertThat(only(columns, PromptTemplate.PLAIN, "{\"prompt\": \"q\", \"solution\": 9}"))
        .extracting(Prompt::answer, Prompt::solution)
        .containsExactly("9", "");
  }

  @Test
  void ids_withoutColumn_areThoseOfTheContentInAnyOrder() throws IOException {
    String first = "{\"prompt\": \"a\", \"answer\": 1}\n";
    String second = "{\"prompt\": \"b\", \"answer\": 2}\n";

    List<String> ids = ids(first + second + first);

    assertThat(ids).hasSize(3).doesNotHaveDuplicates().allMatch(id -> id.startsWith("row_"));
    assertThat(ids.get(2)).isEqualTo(ids.get(0) + "-2");
    assertThat(ids(second + first)).containsExactly(ids.get(1), ids.get(0));
  }

  @Test
  void ids_ofNullAlone_areNoColumn_andOfSomeRowsAreRefused() throws IOException {
    String row = "{\"id\": %s, \"prompt\": \"a\", \"answer\": 1}\n";
    String without = row.formatted("null");
    String with = row.formatted("\"x\"");

    assertThat(ids(without)).first().asString().startsWith("row_");
    assertThat(ids(with)).containsExactly("x");
    assertThatThrownBy(() -> ids(without + with))
        .hasMessageContaining(":2: \"id\" must be in every row, or in none, not \"x\"");
    assertThatThrownBy(() -> ids(with + without))
        .hasMessageContaining(":2: \"id\" must be in every row, or in none, not null");
  }

  @Test
  void heldOutFile_withARowThatIsTrainedOn_isRefused() throws IOException {
    String row = "{\"prompt\": \"a\", \"answer\": 1}\n";
    String other = "{\"prompt\": \"b\", \"answer\": 2}\n";
    Path heldOut = Sets.file(folder, "held-out.jsonl", row);

    assertThatThrownBy(() -> load(new HeldOut.OtherFiles(List.of(heldOut), Map.of()), other + row))
        .isInstanceOf(TaskDataException.class)
        .hasMessageStartingWith(
            folder.resolve("rows.jsonl") + ": the same row is trained on and held out, row_")
        .hasMessageEndingWith(" (1 in all); remove it from one file");
  }

  @Test
  void maxCompletionTokens_ofATable_isANumberOrNone() throws IOException {
    String rows = "{\"prompt\": \"%s\", \"answer\": 1, \"max_completion_tokens\": %s}\n";

    Task task =
        load(
            USUAL,
            PromptTemplate.PLAIN,
            0,
            rows.formatted("a", "\"512\"") + rows.formatted("b", "\"\""));

    assertThat(task.ownLimits()).containsExactly(Map.entry(task.train().getFirst().id(), 512));
    assertThatThrownBy(() -> load(USUAL, PromptTemplate.PLAIN, 0, rows.formatted("a", "[1]")))
        .hasMessageContaining("must be a whole number of tokens");
  }

  private List<String> ids(String rows) throws IOException {
    return load(USUAL, PromptTemplate.PLAIN, 0, rows).train().stream()
        .map(prompt -> prompt.id().value())
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"prompt\": {\"text\": \"q\"}, \"answer\": 1} | \"prompt\" must be a text, a number or a"
            + " conversation, because task.question names it, not {\"text\":\"q\"}; name the field"
            + " inside it, such as {prompt.text}",
        "{\"prompt\": [\"q\"], \"answer\": 1} | \"prompt\" must be a text, a number or a"
            + " conversation",
        "{\"prompt\": null, \"answer\": 1} | \"prompt\" must be a text, a number or a conversation",
        "{\"prompt\": \" \", \"answer\": 1} | \"prompt\" must hold a question, which is not blank",
        "{\"problem\": \"q\", \"answer\": 1} | because task.question names it, not absent; the row"
            + " has problem, answer; did you mean task.question: \"{problem}\"?",
        "{\"messages\": [], \"answer\": 1} | did you mean task.question: \"{messages}\"?",
        "{\"prompt\": \"q\", \"solution\": 9} | \"answer\" must hold the answer, not absent; the"
            + " row has prompt, solution; did you mean task.answer_field: solution?",
        "{\"prompt\": \"q\", \"reward_model\": {\"ground_truth\": 1}} | did you mean"
            + " task.answer_field: reward_model.ground_truth?",
        "{\"prompt\": \"q\", \"gold\": null, \"label\": 1} | did you mean task.answer_field:"
            + " label?",
        "{\"prompt\": \"q\", \"x\": 1} | the row has prompt, x; set task.answer_field to one of"
            + " them",
        "{\"prompt\": \"q\", \"answer\": \"\"} | \"answer\" must hold the answer, not \"\"",
        "{\"prompt\": \"q\", \"answer\": null} | \"answer\" must hold the answer, not null",
        "{\"prompt\": \"q\", \"answer\": [1, 2]} | \"answer\" must hold one answer, a text or a"
            + " number, not [1,2]; keep the right one",
        "{\"prompt\": \"q\", \"answer\": {\"value\": 1}} | name the field inside it, such as"
            + " answer.value",
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\","
            + " \"content\": \"a\"}], \"answer\": 1} | must end with a message of the user",
        "{\"prompt\": [{\"from\": \"human\", \"value\": \"q\"}], \"answer\": 1} | rename from to"
            + " role",
        "{\"prompt\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\":"
            + " {}}]}], \"answer\": 1} | there is a part of type image_url",
        "{\"prompt\": [{\"role\": \"user\", \"content\": null}], \"answer\": 1} | with a text as"
            + " content",
        "{\"prompt\": [{\"role\": \"human\", \"content\": \"q\"}], \"answer\": 1} | must have the"
            + " roles",
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"q\", \"name\": \"Al\"}], \"answer\": 1}"
            + " | a message has name, which prompts do not show",
        "{\"prompt\": [{\"role\": \"user\", \"content\": \"\"}], \"answer\": 1} | \"prompt\" must end"
            + " with a question, which is not blank",
        "{\"prompt\": \"[{'role': 'user', 'content': 'q'}]\", \"answer\": 1} | \"prompt\" must be"
            + " JSON",
        "{\"prompt\": \"q\", \"answer\": 1, \"solution\": [\"a\"]} | because task.solution_field"
            + " names it",
      })
  void row_thatCannotBeUsed_isRefusedByFieldValueAndRemedy(String row, String message) {
    assertThatThrownBy(() -> load(USUAL, chat(""), 0, row))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining(folder.resolve("rows.jsonl") + ":1: ")
        .hasMessageContaining(message);
  }

  @Test
  void conversation_whereNoTemplateCanShowIt_isRefusedByRow() {
    String row = "{\"prompt\": [{\"role\": \"user\", \"content\": \"q\"}], \"answer\": 1%s}";
    PromptTemplate without =
        new PromptTemplate(PromptForm.CHAT, "", "", "", List.of(), PromptTemplate.noTemplate());
    PromptTemplate deaf =
        new PromptTemplate(PromptForm.CHAT, "", "", "", List.of(), (_, _, _) -> "the same");

    assertThatThrownBy(() -> only(USUAL, PromptTemplate.PLAIN, row.formatted("")))
        .hasMessageContaining("rows.jsonl:1: \"prompt\" must be a text where task.template is raw")
        .hasMessageContaining("set task.template to chat");
    assertThatThrownBy(() -> only(USUAL, without, row.formatted("")))
        .hasMessageContaining("rows.jsonl:1: \"prompt\" must be a conversation that the policy's")
        .hasMessageContaining("the policy has no chat template");
    assertThatThrownBy(() -> only(USUAL, deaf, row.formatted(", \"tools\": [{\"name\": \"f\"}]")))
        .hasMessageContaining(
            "rows.jsonl:1: \"tools\" must be shown by the policy's chat template");
    assertThatThrownBy(
            () ->
                only(
                    new FieldColumns("", "Q: {prompt}", "answer", "", ""),
                    chat(""),
                    row.formatted("")))
        .hasMessageContaining("set task.question to \"{prompt}\"");
  }

  @Test
  void refusedRows_withinTheLimit_areLeftOutAndCounted() throws IOException {
    String rows =
        "{\"prompt\": \"q\", \"answer\": \"\"}\n".repeat(2)
            + "{\"prompt\": \"q\", \"answer\": 1}\n".repeat(17)
            + "{\"prompt\": \"q\"}\n";
    Path file = folder.resolve("rows.jsonl");

    Task task = load(USUAL, PromptTemplate.PLAIN, 0.15, rows);

    assertThat(task.train()).hasSize(17);
    assertThat(task.sources().getFirst().report().rows()).isEqualTo(20);
    assertThat(task.refused())
        .extracting(ExcludedPrompts::describe)
        .containsExactly(
            "jsonl: 2 of 20 rows left out, refused because \"answer\" must hold the answer, not"
                + " \"\", such as %s:1; correct or remove them".formatted(file),
            "jsonl: 1 of 20 rows left out, refused because \"answer\" must hold the answer, not"
                + " absent; the row has prompt; set task.answer_field to one of them, such as"
                + " %s:20; correct or remove them".formatted(file));
    assertThat(task.leftOut()).isEqualTo(task.refused());
    assertThatThrownBy(() -> load(USUAL, PromptTemplate.PLAIN, 0.14, rows))
        .hasMessageStartingWith(file + ": 3 of 20 rows are refused:")
        .hasMessageEndingWith("\ncorrect or remove them, or raise task.max_refused_share (0.14)");
    assertThatThrownBy(() -> load(USUAL, PromptTemplate.PLAIN, 0, rows))
        .hasMessageEndingWith(
            "\ncorrect or remove them, or let up to a share of 0.15 be left out by"
                + " task.max_refused_share");
    assertThatThrownBy(
            () -> load(USUAL, PromptTemplate.PLAIN, 0.9, "{\"prompt\": \"q\", \"answer\": \"\"}\n"))
        .hasMessageContaining("1 of 1 rows is refused");
  }
}
