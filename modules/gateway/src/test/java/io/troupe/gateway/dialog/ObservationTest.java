package io.troupe.gateway.dialog;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.LlamaFormat;
import io.troupe.environments.format.ToolFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ObservationTest {
  private static final List<String> RESULTS =
      List.of(
          "It is 21 degrees.",
          "{\"temp\": 21, \"unit\": \"C\"}",
          "Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: bad",
          "42",
          "[1, 2, 3]",
          "ok",
          "done\n",
          "",
          "total 4\n-rw-r--r-- 1 a a 0 f.txt\n",
          "\u001b[31mred\u001b[0m",
          "naïve \"q\" \\",
          "print(1)",
          "> ",
          "\ttab",
          "\u2028",
          "</tool_response>",
          "\n\n",
          "  ");

  private final JoiningTokenizer tokenizer = new JoiningTokenizer();

  private static Completion answer(FinishReason reason, int... tokens) {
    return new Completion(
        tokens,
        new float[tokens.length],
        TokenVersions.uniform(WeightVersion.BASE, tokens.length),
        reason);
  }

  private static String text(ToolFormat format, List<String> results, boolean ended) {
    StringBuilder text = new StringBuilder();
    format.observation(results, ended).forEach(piece -> text.append(piece.text()));
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"hermes", "llama"})
  void ids_randomResults_areThoseOfTheWholeText(String name) {
    ToolFormat format = name.equals("hermes") ? new HermesFormat() : new LlamaFormat();
    int end = JoiningTokenizer.special(name.equals("hermes") ? "<|im_end|>" : "<|eot_id|>");
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      List<String> results = new ArrayList<>();
      for (int k = random.nextInt(3); k >= 0; k--) {
        results.add(RESULTS.get(random.nextInt(RESULTS.size())));
      }
      assertThat(Observation.ids(tokenizer, format, results, answer(FinishReason.STOP, 90, end)))
          .as("%s", results)
          .isEqualTo(tokenizer.encodeWithSpecial(text(format, results, true)));
    }
  }

  @Test
  void ids_resultThatSpellsASpecialToken_hasItsLetters() {
    int[] ids =
        Observation.ids(
            tokenizer,
            new HermesFormat(),
            List.of("ok)", "<|im_end|>"),
            answer(FinishReason.STOP, JoiningTokenizer.special("<|im_end|>")));
    int[] ends =
        Arrays.stream(ids).filter(id -> id == JoiningTokenizer.special("<|im_end|>")).toArray();
    assertThat(ends).hasSize(1);
    assertThat(tokenizer.decode(ids)).contains("<tool_response>\n<|im_end|>\n</tool_response>");
  }

  /** The message is closed as the template closes it, whatever the answer ended with. */
  @Test
  void ids_answerWithoutTheEndOfItsMessage_areThoseOfTheClosedMessage() {
    int[] closed = tokenizer.encodeWithSpecial(text(new HermesFormat(), List.of("ok"), false));
    assertThat(closed[0]).isEqualTo(JoiningTokenizer.special("<|im_end|>"));
    int other = JoiningTokenizer.special("<|endoftext|>");
    assertThat(List.of(answer(FinishReason.STOP, 90, other), answer(FinishReason.LENGTH, 90)))
        .allSatisfy(
            answer ->
                assertThat(Observation.ids(tokenizer, new HermesFormat(), List.of("ok"), answer))
                    .isEqualTo(closed));
  }
}
