package io.troupe.verifiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.CpuTimeLimit;
import io.troupe.testkit.HostileText;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class NumericVerifierTest {
  @ParameterizedTest
  @CsvSource({
    "82, 82, 1",
    "82, ' 82\n', 1",
    "82, 83, 0",
    "82, 28, 0",
    "82, 82.0, 1",
    "2.5, 2.50, 1",
    "82, 82.5, 0",
    "0, 0, 1",
    "0, 0.0, 1",
    "-5, -5, 1",
    "-5, 5, 0",
    "0.5, 0.5, 1",
    "1000, 1000, 1",
    "123456789012345678901234567890, 123456789012345678901234567890, 1",
    "123456789012345678901234567890, 123456789012345678901234567891, 0",
  })
  void verify_oneNumeral_isComparedAsANumber(String answer, String completion, double reward) {
    assertThat(NumericVerifier.plain().verify(prompt(answer), completion))
        .isEqualTo(
            new Verdict.Scored(
                reward, completion.strip(), reward == 1 ? "equal" : "another number"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "082",
        "+82",
        "82.",
        ".82",
        "8 2",
        "82 82",
        "82=82",
        "82x",
        "=82",
        "8,2",
        "82e0",
        "8.2.0",
        "--82",
        "-",
        ".",
        "",
        "  ",
        "٨٢",
        "８２",
        "82\u0000",
        "0x52",
        "1e2",
        "-082",
        "00",
        "The answer is 82.",
        "−82"
      })
  void verify_anythingElse_isWrongAndExtractsNothing(String completion) {
    Verdict.Scored verdict =
        (Verdict.Scored) NumericVerifier.plain().verify(prompt("82"), completion);

    assertThat(verdict.reward()).isZero();
    assertThat(verdict.extracted()).isEmpty();
    assertThat(verdict.reason())
        .isEqualTo(completion.isBlank() ? "nothing written" : "not one number of the task's form");
  }

  @Test
  void verify_minusZero_isNoNumeral() {
    assertThat(NumericVerifier.plain().verify(prompt("0"), "-0"))
        .isEqualTo(new Verdict.Scored(0, "", "not one number of the task's form"));
    assertThat(NumericVerifier.plain().verify(prompt("0"), "-0.00"))
        .isEqualTo(new Verdict.Scored(0, "", "not one number of the task's form"));
  }

  @ParameterizedTest
  @CsvSource({
    "052, 052, 1", "052, 52, 1", "052, 0052, 0", "052, 053, 0", "052, 520, 0", "-05, -05, 1",
    "-05, -5, 1", "-05, 005, 0", "-05, -005, 0", "000, 000, 1", "000, 0, 1", "198, 198, 1",
  })
  void verify_paddingTask_allowsZerosUpToTheAnswersWidth(
      String answer, String completion, double reward) {
    Verdict verdict = new NumericVerifier(true, false).verify(prompt(answer), completion);

    assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(reward);
  }

  @ParameterizedTest
  @CsvSource({
    "28, 28, false, 1",
    "28, 82, false, 0",
    "28, 280, false, 0",
    "250, 250, true, 1",
    "250, 25, true, 1",
    "250, 2500, true, 0",
    "-83, -83, false, 1",
    "-83, -38, false, 0",
    "01, 01, false, 1",
    "01, 1, false, 0",
    "01, 10, false, 0",
    "0, 0, false, 1",
    "5, 5.0, false, 0",
  })
  void verify_reversingTask_readsTheLeastSignificantDigitFirst(
      String answer, String completion, boolean padded, double reward) {
    Verdict verdict = new NumericVerifier(padded, true).verify(prompt(answer), completion);

    assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(reward);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "1,000", "082", "-0", "1e5"})
  void verify_brokenAnswer_isUnverifiable(String answer) {
    assertThat(NumericVerifier.plain().verify(prompt(answer), "82"))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT,
                "the answer of prompt p is no numeral of the task's form: " + answer));
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_anyNumber_isRewardedExactlyWhenEqual(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 100; i++) {
      int a = random.nextInt(-50, 50);
      int b = random.nextInt(-50, 50);
      Verdict verdict = NumericVerifier.plain().verify(prompt("" + a), "" + b);
      assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(a == b ? 1 : 0);
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_hostileText_isScoredAndRewardedOnlyIfAPlainReaderAgrees(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20; i++) {
      String text = HostileText.random(random);
      for (boolean flag : new boolean[] {false, true}) {
        Verdict.Scored verdict =
            (Verdict.Scored) new NumericVerifier(flag, flag).verify(prompt("18"), text);
        if (verdict.reward() > 0 && !flag) {
          assertThat(new BigDecimal(text.strip())).isEqualByComparingTo("18");
        }
      }
    }
  }

  @Test
  void verify_millionCharacters_takesMilliseconds() {
    for (String text : HostileText.large()) {
      assertFast(() -> NumericVerifier.plain().verify(prompt("18"), text));
      assertFast(() -> new NumericVerifier(true, true).verify(prompt("18"), text));
    }
  }

  /** Asserts a limit of 50 ms for a million characters, where 2 ms are usual. */
  private static void assertFast(Supplier<Verdict> check) {
    assertThat(CpuTimeLimit.assertWithin(Duration.ofMillis(50), check))
        .isInstanceOf(Verdict.Scored.class);
  }

  private static Prompt prompt(String answer) {
    return new Prompt(new PromptId("p"), "s", "t", answer, "");
  }
}
