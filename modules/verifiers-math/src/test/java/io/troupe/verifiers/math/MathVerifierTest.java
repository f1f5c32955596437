package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MathVerifierTest {
  @Test
  void verify_scored_tellsWhatWasReadAndWhy() {
    assertThat(verify(MathVerifier.training(), "\\frac{1}{2}", "So \\boxed{0.5}"))
        .isEqualTo(new Verdict.Scored(1, "0.5", "equal as rationals: 1/2"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{17} or \\boxed{18}"))
        .isEqualTo(
            new Verdict.Scored(0, "18", "several boxes side by side hold different answers"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{17, 18}"))
        .isEqualTo(
            new Verdict.Scored(0, "17, 18", "the answer holds several values, the gold is one"));
    assertThat(verify(MathVerifier.training(), "18", "18"))
        .isEqualTo(new Verdict.Scored(0, "", "no answer found"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{18"))
        .isEqualTo(new Verdict.Scored(0, "", "the last box is empty or not closed"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{2^{10^9}}"))
        .isEqualTo(new Verdict.Scored(0, "2^{10^9}", "too large to evaluate"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "$$", "the solution \\boxed{}", "so \\boxed{5", "####"})
  void verify_goldWithoutAnswer_isUnverifiable(String gold) {
    assertThat(verify(MathVerifier.training(), gold, "\\boxed{5}"))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT, "the answer of prompt p holds no answer: " + gold));
  }

  @Test
  void verify_goldTooLarge_isUnverifiableUnlessWrittenAlike() {
    assertThat(verify(MathVerifier.training(), "2^{10^9}", "\\boxed{5}"))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT,
                "the answer of prompt p is too large to evaluate: 2^{10^9}"));
    assertThat(verify(MathVerifier.training(), "2^{10^9}", "\\boxed{2 ^ {10^9}}"))
        .isEqualTo(new Verdict.Scored(1, "2 ^ {10^9}", "the same text"));
  }

  @Test
  void verify_workedSolution_isReadForItsAnswer() {
    assertThat(passes(MathVerifier.training(), "So $5+5=\\boxed{10}$ it is.", "\\boxed{10}"))
        .isTrue();
    assertThat(passes(MathVerifier.training(), "9*2=18\n#### 1,018", "#### 1018")).isTrue();
  }

  /** Training, evaluation, Hendrycks, Minerva, open-instruct, Qwen, DAPO. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\\boxed{3} then \\boxed{4}'                                  | 4   | 1110110",
        "'\\boxed{3} then \\boxed{4}'                                  | 3   | 0000000",
        "we get $5$ and $7$                                          | 7   | 0000110",
        "42                                                          | 42  | 0000110",
        "the answer is 42                                            | 42  | 1100010",
        "Final Answer: The final answer is $-2$. I hope it is correct. | -2 | 1101110",
        "Final Answer: The final answer is $-2$                      | -2  | 1101110",
        "'Answer: 7'                                                 | 7   | 0100011",
        "'\\fbox{7}'                                                 | 7   | 1110110",
        "'\\boxed{10\\text{ cm}}'                                      | 10  | 1110110",
        "The final answer is $40$.                                   | 40  | 1100110",
        "'So \\boxed{3}? No: \\boxed{11}.'                              | 11  | 1110110",
        "'So \\boxed{3}. The final answer is $40$.'                    | 40  | 0100000",
        "'#### 3. Wait, the answer is 40.'                           | 40  | 0100010",
        "'**Answer:** $40$ dollars'                                  | 40  | 0100110",
        "the answer is **40** dollars                                | 40  | 0100000",
        "'\\boxed{40}, so the answer is correct.'                     | 40  | 1110110",
        "'So there are 1,234 of them.'                               | 1234 | 0000010",
        "'<think>t</think><answer>18</answer>'                       | 18  | 1100010",
        "'<think>t</think>\n<answer>\n$18$\n</answer>'               | 18  | 1100110",
        "'<think>t</think><answer>so \\boxed{18}</answer>'           | 18  | 1110110",
        "'<answer>17</answer> no, <answer>18</answer>'               | 18  | 1100010",
        "'<answer>18</answer> no, <answer>17</answer>'               | 18  | 0000000",
        "'<answer>18'                                                | 18  | 0000010",
        "'\\boxed{17} <answer>18</answer>'                           | 18  | 1100000",
        "'**Answer**: 5'                                             | 5   | 0100010",
        "'Answer = 24'                                               | 24  | 0100110",
        "'The answer is 24</s>'                                      | 24  | 1100010",
        "'The answer is 24, which is not 25.'                        | 24  | 1100010",
        "'The answer is 24 (twenty-four).'                           | 24  | 1100010",
        "'The answer is 24 (or seven).'                              | 24  | 0000000",
        "'$x=\\boxed{3}$, $x=\\boxed{5}$, and $x=\\boxed{7}$'         | '3, 5, 7' | 1100000",
        "'$x=\\boxed{3}$, $y=\\boxed{5}$'                            | 3   | 0000000",
      })
  void verify_modes_readAsTheHarnessesDo(String completion, String gold, String expected) {
    StringBuilder passed = new StringBuilder();
    for (MathVerifier.Reading reading : MathVerifier.Reading.values()) {
      passed.append(passes(reading.verifier(), gold, completion) ? '1' : '0');
    }
    assertThat(passed).hasToString(expected);
  }

  /** Markdown's emphasis in the mode {@code evaluation}, whatever follows it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "the answer is **40** dollars             | 40     | 1",
        "the answer is: **$40$** dollars.         | 40     | 1",
        "The answer is *40* dollars               | 40     | 1",
        "the answer is __40__ dollars             | 40     | 1",
        "'**The answer is 40** dollars'           | 40     | 1",
        "'**Answer:** **40** dollars'             | 40     | 1",
        "'**Answer: 40** dollars'                 | 40     | 1",
        "'**Answer:** 40'                         | 40     | 1",
        "'#### **40** dollars'                    | 40     | 1",
        "'the answer is **\\frac{1}{2}** of it'   | 0.5    | 1",
        "the answer is **-3.5** degrees           | -3.5   | 1",
        "the answer is **x = 40** here            | 40     | 1",
        "the answer is **40** or **41**           | 40     | 0",
        "'the answer is **40**, **41**'           | 40     | 0",
        "the answer is **39** dollars             | 40     | 0",
        "the answer is **not** 40                 | 40     | 0",
        "the answer is 2**3                       | 2      | 0",
        "'the answer is **40'                     | 40     | 1",
      })
  void verify_emphasisInEvaluation_endsTheAnswer(String completion, String gold, int reward) {
    MathVerifier verifier = MathVerifier.Reading.EVALUATION.verifier();
    assertThat(passes(verifier, gold, completion.replace("\\\\", "\\")))
        .as(completion)
        .isEqualTo(reward == 1);
  }

  /** Several boxes: the last one, or the last ones that are side by side. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\\boxed{17} and \\boxed{18}'                           | '\\{17,18\\}' | 1",
        "'$\\boxed{17}$, $\\boxed{18}$ or $\\boxed{19}$'            | '17,18,19'    | 1",
        "'**$\\boxed{17}$**\n**$\\boxed{18}$**'                   | '17,18'       | 1",
        "'\\boxed{17}\\text{ and }\\boxed{18}'                     | '17,18'       | 1",
        "'\\boxed{1}, no, \\boxed{17} and \\boxed{18}'             | '17,18'       | 1",
        "'\\boxed{17} and then also \\boxed{18}'                  | '17,18'       | 0",
        "'\\boxed{17} or \\boxed{18}'                            | 18            | 0",
        "'\\boxed{17}, \\boxed{18}'                              | 17            | 0",
        "'\\boxed{17} \\boxed{18}'                               | 18            | 0",
        "'\\boxed{17}\n\n\\boxed{18}'                            | 18            | 0",
        "'\\boxed{\\boxed{17}, \\boxed{18}}'                      | 18            | 0",
        "'\\boxed{18}, and again \\boxed{18.0}'                  | 18            | 1",
        "'\\boxed{18}, \\boxed{18.0}'                            | 18            | 1",
        "'\\boxed{17}. Hmm, rather \\boxed{18}'                  | 18            | 1",
        "'\\boxed{18}. Hmm, rather \\boxed{17}'                  | 18            | 0",
        "'\\boxed{18} and \\boxed{17'                            | 18            | 0",
        "'<answer>\\boxed{1}, \\boxed{2}</answer>'                | '1, 2'        | 1",
        "'<answer>\\boxed{1}, \\boxed{2}</answer>'                | 2             | 0",
      })
  void verify_severalBoxes_areOneGuess(String completion, String gold, int reward) {
    for (MathVerifier.Reading reading : ONE_GUESS) {
      assertThat(passes(reading.verifier(), gold, completion.replace("\\n", "\n")))
          .as("%s", reading)
          .isEqualTo(reward == 1);
    }
  }

  private static final List<MathVerifier.Reading> ONE_GUESS =
      List.of(MathVerifier.Reading.TRAINING, MathVerifier.Reading.EVALUATION);

  /** However guesses are laid out, at most one of them is paid: no order is worth more than one. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_anyLayOutOfGuesses_paysForOneAtMost(long seed) {
    Random random = new Random(seed);
    List<String> between =
        List.of(
            " ", ", ", " or ", "$, $", ". Wait, no: ", "\n\n", " = ", "\\\\", "} ", " {", "####");
    List<String> frames =
        List.of(
            "\\boxed{%s}",
            "\\fbox{%s}",
            "#### %s",
            "The answer is %s.",
            "Answer: %s",
            "%s",
            "\\boxed{\\boxed{%s}}",
            "the final answer is $%s$",
            "\\boxed %s",
            "<answer>%s</answer>",
            "Answer = %s");
    int guesses = 2 + random.nextInt(5);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < guesses; i++) {
      text.append(frames.get(random.nextInt(frames.size())).replace("%s", Integer.toString(11 + i)))
          .append(between.get(random.nextInt(between.size())));
    }
    for (MathVerifier.Reading reading : ONE_GUESS) {
      List<Integer> paid =
          IntStream.range(11, 11 + guesses)
              .filter(gold -> passes(reading.verifier(), "" + gold, text.toString()))
              .boxed()
              .toList();
      assertThat(paid).as("%s: %s", reading, text).hasSizeLessThanOrEqualTo(1);
    }
  }

  /** An answer that was in tags is shown them again only where tags are looked for. */
  @Test
  void verify_taggedAnswer_isReadByTheAnchorsThatThereAre() {
    MathVerifier hashes =
        new MathVerifier(List.of(AnswerAnchor.HASHES), MathVerifier.Mode.LAST_ANSWER);
    assertThat(passesTagged(hashes, "#### 5")).isTrue();
    assertThat(passesTagged(MathVerifier.Reading.DAPO.verifier(), "Answer: 5")).isTrue();
    assertThat(passesTagged(MathVerifier.Reading.OPEN_INSTRUCT.verifier(), "5")).isTrue();
    assertThat(passesTagged(MathVerifier.training(), "5")).isTrue();
    assertThat(passesTagged(MathVerifier.Reading.DAPO.verifier(), "5")).isFalse();
  }

  private static boolean passesTagged(MathVerifier verifier, String inside) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", "5", "");
    return ((Verdict.Scored) verifier.verify(prompt, new JudgedText(inside, false, true))).passed();
  }

  @Test
  void construct_badSettings_areRefused() {
    assertThatThrownBy(() -> new MathVerifier(List.of(), MathVerifier.Mode.ONE_ANSWER))
        .hasMessageStartingWith("the math verifier needs at least one anchor; name one of [box,");
    assertThatThrownBy(
            () ->
                new MathVerifier(
                    List.of(AnswerAnchor.BOX, AnswerAnchor.BOX), MathVerifier.Mode.ONE_ANSWER))
        .hasMessage(
            "each anchor of the math verifier counts once, but one of [box, box] is there twice;"
                + " remove it");
    assertThatThrownBy(() -> AnswerAnchor.named("boxes"))
        .hasMessageStartingWith("boxes is no anchor of the math verifier; name one of [box,");
  }

  private static boolean passes(MathVerifier verifier, String gold, String completion) {
    return verify(verifier, gold, completion) instanceof Verdict.Scored scored && scored.passed();
  }

  private static Verdict verify(MathVerifier verifier, String gold, String completion) {
    return verifier.verify(new Prompt(new PromptId("p"), "s", "t", gold, ""), completion);
  }
}
