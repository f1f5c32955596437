package io.troupe.verifiers.judge;

import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the score in a judge's reply. */
final class ScoreParser {
  /** Numbers from 0 to 1 that are not part of a longer number, such as 10 or 0.5.1. */
  private static final Pattern NUMBER =
      Pattern.compile("(?<![\\w.,/-])(0(?:\\.\\d{1,9})?|1(?:\\.0{1,9})?)(?![\\w,/]|\\.\\d)");

  private static final String THINKING_ENDS = "</think>";

  private ScoreParser() {}

  /**
   * The only score of a reply, without the model's reasoning; empty if there is none, or if there
   * are several different ones: a judge with two scores has not decided.
   */
  static OptionalDouble in(String reply) {
    int thought = reply.lastIndexOf(THINKING_ENDS);
    Matcher numbers =
        NUMBER.matcher(thought < 0 ? reply : reply.substring(thought + THINKING_ENDS.length()));
    OptionalDouble score = OptionalDouble.empty();
    while (numbers.find()) {
      double number = Double.parseDouble(numbers.group(1));
      if (score.isPresent() && score.getAsDouble() != number) {
        return OptionalDouble.empty();
      }
      score = OptionalDouble.of(number);
    }
    return score;
  }
}
