package io.troupe.gateway.dialog;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.environments.format.BridgedFormat;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.InlineFormat;
import io.troupe.environments.format.LlamaFormat;
import io.troupe.environments.format.ToolFormat;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ToolCallReaderTest {
  private static final List<ToolDeclaration> TOOLS =
      List.of(new ToolDeclaration("f", "", "{\"properties\":{\"x\":{}}}"));
  private static final List<ToolFormat> FORMATS =
      List.of(
          new InlineFormat(),
          new HermesFormat(),
          new LlamaFormat(),
          new BridgedFormat(new HermesFormat(), "<think>\n\n</think>\n\n"));

  /** Pieces of answers: tags, parts of tags, calls, blanks. */
  private static final List<String> PIECES =
      List.of(
          "<think>",
          "</think>",
          "<thought>",
          "</thought>",
          "[THINK]",
          "[/THI",
          "[/THINK]",
          "<tool_call>",
          "</tool_call>",
          "<thi",
          "</",
          "<tool",
          "\n",
          " ",
          "a",
          "word ",
          "[f 1]",
          "[f",
          "]",
          "{\"name\": \"f\", \"arguments\": {\"x\": 1}}",
          "{\"name\": \"f\", \"parameters\": {}}",
          "<|python_tag|>",
          "<|py",
          "{",
          "}",
          "é");

  private static String answer(Random random) {
    StringBuilder answer = new StringBuilder();
    for (int i = random.nextInt(9); i >= 0; i--) {
      answer.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return answer.toString();
  }

  /** A stream never takes back a sent text, wherever the answer was then. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void soFar_anyBeginningOfAnyAnswer_isABeginningOfWhatIsRead(long seed) {
    Random random = new Random(seed);
    for (ToolFormat format : FORMATS) {
      String answer = answer(random);
      for (boolean thinksFirst : new boolean[] {false, true}) {
        for (List<ToolDeclaration> tools : List.of(TOOLS, List.<ToolDeclaration>of())) {
          check(format, answer, tools, thinksFirst);
        }
      }
    }
  }

  private static void check(
      ToolFormat format, String answer, List<ToolDeclaration> tools, boolean thinksFirst) {
    ParsedAnswer whole = ToolCallReader.read(format, answer, tools, thinksFirst);
    ParsedAnswer before = new ParsedAnswer("", "", List.of());
    for (int end = 0; end <= answer.length(); end++) {
      ParsedAnswer soFar =
          ToolCallReader.soFar(format, answer.substring(0, end), tools, thinksFirst);
      assertThat(soFar.reasoning()).startsWith(before.reasoning());
      assertThat(soFar.content()).startsWith(before.content());
      assertThat(whole.reasoning()).as(answer).startsWith(soFar.reasoning());
      assertThat(whole.content()).as(answer).startsWith(soFar.content());
      before = soFar;
    }
  }

  @Test
  void soFar_textBeforeACall_isSentWithoutTheCall() {
    String answer = "<think>\nhm\n</think>\n\nso <tool_call>";
    ParsedAnswer soFar = ToolCallReader.soFar(new HermesFormat(), answer, TOOLS, false);
    assertThat(soFar).isEqualTo(new ParsedAnswer("hm", "so", List.of()));
    assertThat(ToolCallReader.soFar(new HermesFormat(), "<think>\nhm </thi", TOOLS, false))
        .isEqualTo(new ParsedAnswer("hm", "", List.of()));
  }

  @Test
  void read_thinkingThatIsCut_isReasoningAndNoText() {
    assertThat(ToolCallReader.read(new HermesFormat(), "<think>\nhm", TOOLS, false))
        .isEqualTo(new ParsedAnswer("hm", "", List.of()));
    assertThat(ToolCallReader.read(new HermesFormat(), "hm</think>so", TOOLS, true))
        .isEqualTo(new ParsedAnswer("hm", "so", List.of()));
  }
}
