package io.troupe.verifiers.judge;

import io.troupe.core.reward.AnswerPart;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the score in a judge's reply, behind its thought: a number from 0 to 1 that is a line of
 * its own, or that a word such as "score" names. Other numbers count mistakes and steps, so that
 * they are no scores.
 */
final class ScoreParser {
  private static final String NUMBER = "(0(?:\\.\\d{1,9})?|1(?:\\.0{1,9})?)";

  /** Marks around a number: Markdown's emphasis, quotation marks, tags, braces of LaTeX or JSON. */
  private static final String OPENS = "(?:[*_`\"'$({\\s]|\\\\boxed|<[a-z]{1,20}>){0,12}";

  private static final String CLOSES = "(?:[*_`\"'$)}\\s]|</[a-z]{1,20}>){0,12}+";

  private static final Pattern ALONE = Pattern.compile(OPENS + NUMBER + "\\.?" + CLOSES + "\\.?");

  private static final Pattern NAMED =
      Pattern.compile(
          "(?i)\\b(?:score|grade|rating|reward|verdict|answer)\\b[*_`\"']{0,4}"
              + "\\s{0,4}(?::|=|\\bis\\b|\\bof\\b)\\s{0,4}"
              + OPENS
              + NUMBER
              + "(?!\\.?\\d)"
              + CLOSES
              + "(?=[.,;\\]]|$|because\\b|since\\b|out of 1\\b)");

  private ScoreParser() {}

  /**
   * The only score of a reply; empty if there is none, or if there are several different ones: a
   * judge with two scores has not decided.
   */
  static OptionalDouble in(String reply) {
    if (!(AnswerPart.of(reply, false) instanceof AnswerPart.Answer(String answer, _))) {
      return OptionalDouble.empty();
    }
    OptionalDouble score = OptionalDouble.empty();
    for (String line : answer.split("\n", -1)) {
      Matcher alone = ALONE.matcher(line);
      Matcher named = NAMED.matcher(line);
      Matcher numbers = alone.matches() ? alone.reset() : named;
      while (numbers.find()) {
        double number = Double.parseDouble(numbers.group(1));
        if (score.isPresent() && score.getAsDouble() != number) {
          return OptionalDouble.empty();
        }
        score = OptionalDouble.of(number);
      }
    }
    return score;
  }
}
