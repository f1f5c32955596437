package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.CpuTimeLimit;
import io.troupe.testkit.HostileText;
import io.troupe.verifiers.Excerpt;
import io.troupe.verifiers.Gsm8kMode;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class Gsm8kVerifierTest {
  /** Strict, flexible, any. The row with ".." is 0 under flexible and any in the original. */
  @ParameterizedTest
  @CsvSource({
    "The answer is 18.,             18,   1, 1, 1",
    "The answer is 18,              18,   0, 1, 1",
    "The answer is $18.,            18,   0, 1, 1",
    "The answer is 18.00.,          18,   1, 1, 1",
    "The answer is 5. Then 7,       5,    1, 0, 1",
    "'so 1,234 apples',             1234, 0, 1, 1",
    "'total is 18, wait ..',        18,   0, 1, 1",
    "cost -5 dollars,               -5,   0, 1, 1",
    "no digits,                     3,    0, 0, 0",
  })
  void verify_goldenTable_agrees(
      String text, String answer, double strict, double flexible, double any) {
    assertThat(reward(Gsm8kMode.STRICT, text, answer)).isEqualTo(strict);
    assertThat(reward(Gsm8kMode.FLEXIBLE, text, answer)).isEqualTo(flexible);
    assertThat(reward(Gsm8kMode.ANY, text, answer)).isEqualTo(any);
  }

  @ParameterizedTest
  @CsvSource({
    "The answer is 18.5,                        18,   0",
    "The answer is 18.5.,                       18.5, 1",
    "'The answer is 1,002.',                    1002, 1",
    "The answer is -3.,                         -3,   1",
    "The answer is -3.,                         3,    0",
    "'The answer is 4. Wait, no. The answer is 5.', 4, 0",
    "The answer is 4. The answer is 5.,         5,    1",
    "The answer is x. The answer is 5.,         5,    1",
    "The answer is .... The answer is 5.,       5,    1",
    "The answer is The answer is 5.,            5,    1",
    "The answer is 18...,                       18,   1",
    "the answer is 18.,                         18,   0",
    "The answer is  18.,                        18,   0",
    "The answer is 1.2.3.,                      1.2,  0",
    "'So 18. The answer is not 18.',            18,   0",
    "18,                                        18,   0",
  })
  void verify_strict_readsTheLastSentenceOnly(String text, String answer, double reward) {
    assertThat(reward(Gsm8kMode.STRICT, text, answer)).isEqualTo(reward);
  }

  @ParameterizedTest
  @CsvSource({
    "3-5,            -5,   1",
    "x = 3 - 5,      5,    1",
    "'$1,234.50',    1234.5, 1",
    "-$5,            -5,   1",
    "18 $ and more,  18,   1",
    "'18, $',        18,   1",
    "7 8,            8,    1",
    ".5,             0.5,  1",
    "--5,            -5,   1",
    "٨,              8,    0",
  })
  void verify_flexible_readsTheLastNumber(String text, String answer, double reward) {
    assertThat(reward(Gsm8kMode.FLEXIBLE, text, answer)).isEqualTo(reward);
  }

  @Test
  void verify_scored_tellsWhatWasRead() {
    Prompt prompt = prompt("18");
    assertThat(new Gsm8kVerifier(Gsm8kMode.STRICT).verify(prompt, "The answer is 18.00."))
        .isEqualTo(new Verdict.Scored(1, "18.00", "equal"));
    assertThat(new Gsm8kVerifier(Gsm8kMode.STRICT, 0.1).verify(prompt, "The answer is 7."))
        .isEqualTo(new Verdict.Scored(0.1, "7", "another answer"));
    assertThat(new Gsm8kVerifier(Gsm8kMode.STRICT, 0.1).verify(prompt, "7"))
        .isEqualTo(new Verdict.Scored(0, "", "no answer found"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "eighteen", "..", "1.2.3", "-"})
  void verify_brokenAnswer_isUnverifiable(String answer) {
    assertThat(new Gsm8kVerifier(Gsm8kMode.ANY).verify(prompt(answer), "The answer is 18."))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT, "the answer of prompt p is no number: " + answer));
  }

  @Test
  void construct_formatRewardOutOfRange_isRefused() {
    assertThatThrownBy(() -> new Gsm8kVerifier(Gsm8kMode.STRICT, 1))
        .hasMessage("the reward for a wrong answer in the right format lies in [0, 1), not 1.0");
  }

  /** The harness's own patterns are the oracle, restricted to matches that hold a digit. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_hostileText_readsWhatThePatternsRead(long seed) {
    Random random = new Random(seed);
    Pattern flexible = Pattern.compile("(-?[$0-9.,]{2,})|(-?[0-9]+)");
    Pattern strict = Pattern.compile("The answer is (-?[0-9.,]+)\\.(?![.,]*[0-9])");
    for (int i = 0; i < 20; i++) {
      String text = HostileText.random(random);
      String last = "";
      for (Matcher m = flexible.matcher(text); m.find(); ) {
        last = m.group().matches(".*[0-9].*") ? m.group() : last;
      }
      String stated = "";
      for (Matcher m = strict.matcher(text); m.find(); ) {
        stated = m.group(1).matches(".*[0-9].*") ? m.group(1) : stated;
      }

      assertThat(extracted(Gsm8kMode.FLEXIBLE, text)).isEqualTo(Excerpt.of(last));
      assertThat(extracted(Gsm8kMode.STRICT, text)).isEqualTo(Excerpt.of(stated));
      assertThat(extracted(Gsm8kMode.ANY, text))
          .isEqualTo(Excerpt.of(stated.isEmpty() ? last : stated));
    }
  }

  @ParameterizedTest
  @EnumSource
  void verify_millionCharacters_takesMilliseconds(Gsm8kMode mode) {
    for (String text : HostileText.large()) {
      assertFast(() -> new Gsm8kVerifier(mode).verify(prompt("18"), text));
    }
  }

  /** Asserts a limit of 50 ms for a million characters, where 2 ms are usual. */
  private static void assertFast(Supplier<Verdict> check) {
    assertThat(CpuTimeLimit.assertWithin(Duration.ofMillis(50), check))
        .isInstanceOf(Verdict.Scored.class);
  }

  private static double reward(Gsm8kMode mode, String text, String answer) {
    Verdict verdict = new Gsm8kVerifier(mode).verify(prompt(answer), text);
    return ((Verdict.Scored) verdict).reward();
  }

  private static String extracted(Gsm8kMode mode, String text) {
    Verdict verdict = new Gsm8kVerifier(mode).verify(prompt("18"), text);
    return ((Verdict.Scored) verdict).extracted();
  }

  private static Prompt prompt(String answer) {
    return new Prompt(new PromptId("p"), "s", "t", answer, "");
  }
}
