package io.troupe.verifiers.math;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Excerpt;
import io.troupe.verifiers.Gsm8kMode;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.Verifier;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Reads the final answer of a worked solution and compares it with the prompt's, as GSM8K is scored
 * (lm-evaluation-harness's strict and flexible filters).
 *
 * <p>Of what was read, commas, dollar signs and points at the end are dropped; then it must equal
 * the prompt's answer as an exact number: {@code 18.00} is {@code 18}, and {@code 1.2.3} is none.
 *
 * <p><b>Readings that hold no digit are none.</b> The harness's patterns also match {@code ..} or
 * {@code $,}, so that an ellipsis at the end hides the number before it and turns a right answer
 * wrong. Here a match counts only if it holds a digit. And a point with a digit behind it does not
 * end a sentence: the strict pattern would read 18 in {@code The answer is 18.5}.
 *
 * <p>All patterns are scanned by hand, in one pass: a regular expression's backtracking is no match
 * for a policy that is rewarded for what it finds.
 *
 * @param mode reading of answers
 * @param formatReward reward of an answer that was found but is wrong, in [0, 1)
 */
public record Gsm8kVerifier(Gsm8kMode mode, double formatReward) implements Verifier {
  private static final String ANCHOR = "The answer is ";

  /** Longer ones are no answers, and converting them takes more than linear time. */
  private static final int MOST_CHARACTERS = 100;

  private static final MathVerifier ANCHORED = MathVerifier.training();

  public Gsm8kVerifier {
    require(
        formatReward >= 0 && formatReward < 1,
        "the reward for a wrong answer in the right format lies in [0, 1), not %s",
        formatReward);
  }

  /** Wrong answers earn nothing. */
  public Gsm8kVerifier(Gsm8kMode mode) {
    this(mode, 0);
  }

  @Override
  public Verdict verify(Prompt prompt, JudgedText completion) {
    return mode == Gsm8kMode.ANCHORS
        ? withFormatReward(ANCHORED.verify(prompt, completion))
        : verify(prompt, completion.text());
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    if (mode == Gsm8kMode.ANCHORS) {
      return withFormatReward(ANCHORED.verify(prompt, completion));
    }
    Optional<BigDecimal> answer = number(prompt.answer());
    if (answer.isEmpty()) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT,
          "the answer of prompt %s is no number: %s"
              .formatted(prompt.id(), Excerpt.of(prompt.answer())));
    }
    Optional<String> found =
        switch (mode) {
          case ANCHORS -> throw new IllegalStateException("read by the math verifier");
          case STRICT -> strict(completion);
          case FLEXIBLE -> flexible(completion);
          case ANY -> strict(completion).or(() -> flexible(completion));
        };
    if (found.isEmpty()) {
      return new Verdict.Scored(0, "", "no answer found");
    }
    String extracted = Excerpt.of(found.get());
    return number(found.get()).filter(n -> n.compareTo(answer.get()) == 0).isPresent()
        ? new Verdict.Scored(1, extracted, "equal")
        : new Verdict.Scored(formatReward, extracted, "another answer");
  }

  private Verdict withFormatReward(Verdict verdict) {
    return verdict
                instanceof
                Verdict.Scored(double reward, String extracted, String reason, var _, var _)
            && reward < formatReward
            && !extracted.isEmpty()
        ? new Verdict.Scored(formatReward, extracted, reason)
        : verdict;
  }

  /** The last match of {@code The answer is (-?[0-9.,]+)\.} under the rules above. */
  private static Optional<String> strict(String text) {
    Optional<String> found = Optional.empty();
    int anchor = text.indexOf(ANCHOR);
    while (anchor >= 0) {
      int start = anchor + ANCHOR.length();
      int runStart = start < text.length() && text.charAt(start) == '-' ? start + 1 : start;
      int end = runStart;
      int lastDigit = -1;
      int lastPoint = -1;
      while (end < text.length() && isNumeric(text.charAt(end)) && text.charAt(end) != '$') {
        lastDigit = isDigit(text.charAt(end)) ? end : lastDigit;
        lastPoint = text.charAt(end) == '.' ? end : lastPoint;
        end++;
      }
      if (lastDigit >= 0 && lastPoint > lastDigit) {
        found = Optional.of(text.substring(start, lastPoint));
      }
      anchor = text.indexOf(ANCHOR, end);
    }
    return found;
  }

  /** The last match of {@code (-?[$0-9.,]{2,})|(-?[0-9]+)} that holds a digit. */
  private static Optional<String> flexible(String text) {
    int digit = text.length() - 1;
    while (digit >= 0 && !isDigit(text.charAt(digit))) {
      digit--;
    }
    if (digit < 0) {
      return Optional.empty();
    }
    int end = digit + 1;
    while (end < text.length() && isNumeric(text.charAt(end))) {
      end++;
    }
    int start = digit;
    while (start > 0 && isNumeric(text.charAt(start - 1))) {
      start--;
    }
    boolean minus = start > 0 && text.charAt(start - 1) == '-';
    return Optional.of(text.substring(minus ? start - 1 : start, end));
  }

  private static Optional<BigDecimal> number(String found) {
    if (found.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    StringBuilder kept = new StringBuilder();
    for (char c : found.strip().toCharArray()) {
      if (c != ',' && c != '$') {
        kept.append(c);
      }
    }
    while (!kept.isEmpty() && kept.charAt(kept.length() - 1) == '.') {
      kept.setLength(kept.length() - 1);
    }
    return isNumeral(kept) ? Optional.of(new BigDecimal(kept.toString())) : Optional.empty();
  }

  /** An optional minus, digits, and at most one point among them; at least one digit. */
  private static boolean isNumeral(CharSequence text) {
    int digits = 0;
    int points = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (isDigit(c)) {
        digits++;
      } else if (c == '.') {
        points++;
      } else if (c != '-' || i > 0) {
        return false;
      }
    }
    return digits > 0 && points <= 1;
  }

  private static boolean isNumeric(char c) {
    return isDigit(c) || c == '.' || c == ',' || c == '$';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
