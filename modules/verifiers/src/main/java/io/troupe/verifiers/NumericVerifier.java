package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Rewards a completion that is exactly one number, equal to the prompt's answer.
 *
 * <p>White space at both ends is ignored. The rest must be a numeral: an optional {@code -}, ASCII
 * digits, and optionally a decimal point with digits after it; no {@code +}, no exponent, no
 * separators, no unit, not {@code -0}. Numerals are compared exactly, as numbers: {@code 2.50}
 * equals {@code 2.5}. The answer itself is a numeral of the same form.
 *
 * <p>Leading zeros are wrong, unless the task pads numbers: then a numeral may have leading zeros
 * up to the answer's width, and no more.
 *
 * <p>If the task reverses numbers, the digits after the sign are written least significant first,
 * in completion and answer alike; such numerals are integers.
 *
 * @param padded whether the task writes numbers with leading zeros
 * @param reversed whether the task writes the least significant digit first
 */
public record NumericVerifier(boolean padded, boolean reversed) implements Verifier {
  /** A longer numeral is no answer; its conversion would take more than linear time. */
  private static final int MOST_CHARACTERS = 1_000;

  /** The verifier for numbers in the usual notation. */
  public static NumericVerifier plain() {
    return new NumericVerifier(false, false);
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    String expected = prompt.answer().strip();
    Optional<BigDecimal> answer = number(expected, expected.length());
    if (answer.isEmpty()) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT,
          "the answer of prompt %s is no numeral of the task's form: %s"
              .formatted(prompt.id(), Excerpt.of(expected)));
    }
    String written = completion.strip();
    Optional<BigDecimal> number = number(written, expected.length());
    if (number.isEmpty()) {
      String reason = written.isEmpty() ? "nothing written" : "not one number of the task's form";
      return new Verdict.Scored(0, "", reason);
    }
    return number.get().compareTo(answer.get()) == 0
        ? new Verdict.Scored(1, Excerpt.of(written), "equal")
        : new Verdict.Scored(0, Excerpt.of(written), "another number");
  }

  private Optional<BigDecimal> number(String written, int answerWidth) {
    if (written.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    boolean negative = written.startsWith("-");
    String digits = negative ? written.substring(1) : written;
    if (reversed) {
      digits = new StringBuilder(digits).reverse().toString();
    }
    if (!isNumeral(digits) || (hasLeadingZero(digits) && !mayPad(written, answerWidth))) {
      return Optional.empty();
    }
    BigDecimal magnitude = new BigDecimal(digits);
    if (!negative) {
      return Optional.of(magnitude);
    }
    return magnitude.signum() == 0 ? Optional.empty() : Optional.of(magnitude.negate());
  }

  private boolean isNumeral(String digits) {
    int point = digits.indexOf('.');
    if (point < 0) {
      return isDigits(digits);
    }
    return !reversed
        && isDigits(digits.substring(0, point))
        && isDigits(digits.substring(point + 1));
  }

  private boolean mayPad(String written, int answerWidth) {
    return padded && written.length() <= answerWidth;
  }

  private static boolean hasLeadingZero(String digits) {
    return digits.length() > 1 && digits.charAt(0) == '0' && digits.charAt(1) != '.';
  }

  private static boolean isDigits(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
