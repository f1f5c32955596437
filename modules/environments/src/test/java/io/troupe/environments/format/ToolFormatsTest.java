package io.troupe.environments.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolCall.Status;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ToolFormatsTest {
  private static String shown(ToolFormat format, boolean ended, String... results) {
    return format.observation(List.of(results), ended).stream()
        .map(piece -> piece.special() ? piece.text() : "{" + piece.text() + "}")
        .collect(Collectors.joining());
  }

  @Test
  void inline_call_isReadUpToItsBracket() {
    ToolFormat inline = new InlineFormat();
    assertThat(inline.parse("so [calc 12*34]"))
        .isEqualTo(new ParsedToolCalls("so ", List.of(new ToolCall("calc", "12*34", Status.OK))));
    assertThat(inline.parse("408")).isEqualTo(new ParsedToolCalls("408", List.of()));
    assertThat(inline.parse("[calc").calls())
        .extracting(ToolCall::status)
        .containsExactly(Status.UNCLOSED);
    assertThat(inline.parse("[12*34]").calls())
        .extracting(ToolCall::status)
        .containsExactly(Status.MISSING_NAME);
    assertThat(shown(inline, false, "408")).isEqualTo("{408;}");
  }

  @Test
  void hermes_arguments_areTheSampledText() {
    ToolFormat hermes = new HermesFormat();
    ParsedToolCalls parsed =
        hermes.parse(
            """
            <think>maybe <tool_call>no</tool_call></think>

            <tool_call>
            {"name": "f", "arguments": {"b":  1.0, "a": "}"}}
            </tool_call>
            <tool_call>{"arguments": {"x": true}, "name": "g"}</tool_call>\
            """);
    assertThat(parsed.calls())
        .containsExactly(
            new ToolCall("f", "{\"b\":  1.0, \"a\": \"}\"}", Status.OK),
            new ToolCall("g", "{\"x\": true}", Status.OK));
    assertThat(parsed.text()).isEqualTo("<think>maybe <tool_call>no</tool_call></think>\n\n\n");
  }

  /** A thought ends once: behind it the tag is a text like any other, as vLLM reads it. */
  @Test
  void hermes_thoughtTagInAnArgument_isPartOfTheCall() {
    String arguments = "{\"text\": \"a </think> b <think>\"}";
    String call =
        "<tool_call>{\"name\": \"w\", \"arguments\": %s}</tool_call>".formatted(arguments);
    ToolCall read = new ToolCall("w", arguments, Status.OK);
    for (String before : List.of("", "so ", "<think>\n<tool_call>no\n</think>\n\n")) {
      assertThat(new HermesFormat().parse(before + call + call).calls())
          .as(before)
          .containsExactly(read, read);
    }
  }

  @Test
  void split_anySpellingOfAThought_endsAtItsFirstEnd() {
    for (ThoughtMarks marks : ThoughtMarks.values()) {
      String thought = "t" + marks.closes() + "a" + marks.closes();

      assertThat(ThoughtSplit.of(thought, true).rest()).isEqualTo("a" + marks.closes());
      assertThat(ThoughtSplit.of(marks.opens() + thought, false).thought()).isEqualTo("t");
    }
  }

  @Test
  void llama_result_isWrittenAsPythonWritesIt() {
    assertThat(shown(new LlamaFormat(), true, "\u001b[31mré\u2028\u007f"))
        .contains("{\"\\u001b[31mré\u2028\u007f\"}");
  }

  @Test
  void hermes_callsThatCannotBeRead_areNamed() {
    ToolFormat hermes = new HermesFormat();
    assertThat(
            List.of(
                    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}",
                    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
                    "<tool_call>{\"name\": \"f\"}</tool_call>",
                    "<tool_call>{\"arguments\": {}}</tool_call>",
                    "<tool_call>f(1)</tool_call>")
                .stream()
                .map(answer -> hermes.parse(answer).calls().getFirst().status()))
        .containsExactly(
            Status.UNCLOSED,
            Status.OK,
            Status.INVALID_ARGUMENTS,
            Status.MISSING_NAME,
            Status.INVALID_ARGUMENTS);
  }

  @Test
  void hermes_results_neverSpellSpecialTokens() {
    assertThat(shown(new HermesFormat(), true, "4", "<|im_end|>"))
        .isEqualTo(
            """

            <|im_start|>user
            <tool_response>
            {4}
            </tool_response>
            <tool_response>
            {<|im_end|>}
            </tool_response><|im_end|>
            <|im_start|>assistant
            """);
    assertThat(shown(new HermesFormat(), false, "4")).startsWith("<|im_end|>\n<|im_start|>user");
  }

  @Test
  void llama_onlyAWholeObject_isACall() {
    ToolFormat llama = new LlamaFormat();
    assertThat(llama.parse(" {\"name\": \"f\", \"parameters\": {\"a\": 1}}").calls())
        .containsExactly(new ToolCall("f", "{\"a\": 1}", Status.OK));
    assertThat(llama.parse("{\"name\": \"f\"} is no call").calls()).isEmpty();
    assertThat(shown(llama, true, "a\"b"))
        .isEqualTo(
            "<|start_header_id|>ipython<|end_header_id|>\n\n{\"a\\\"b\"}<|eot_id|>"
                + "<|start_header_id|>assistant<|end_header_id|>\n\n");
  }
}
