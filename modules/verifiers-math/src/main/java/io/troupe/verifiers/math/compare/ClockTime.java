package io.troupe.verifiers.math.compare;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A time of day.
 *
 * @param minutes since midnight, or since noon as well where the half of the day is not said
 * @param half whether the half of the day is known, by a word or by an hour past noon
 * @param spoken whether a word says the half of the day, so that it is no ratio
 */
record ClockTime(int minutes, boolean half, boolean spoken) {
  private static final int HOURS = 12;

  private static final Pattern TIME =
      Pattern.compile(
          "([0-9]{1,2})(?: ?: ?([0-9]{2}))? ?(a\\.? ?m\\.?|p\\.? ?m\\.?|noon|midnight|o'clock)?");

  /** Reads plain words in lower case; empty if they are no time, or hours without anything. */
  static Optional<ClockTime> of(String words) {
    if (words.equals("noon") || words.equals("midnight")) {
      return Optional.of(new ClockTime(words.equals("noon") ? HOURS * 60 : 0, true, true));
    }
    Matcher time = TIME.matcher(words);
    if (!time.matches() || (time.group(2) == null && time.group(3) == null)) {
      return Optional.empty();
    }
    int hour = Integer.parseInt(time.group(1));
    int minute = time.group(2) == null ? 0 : Integer.parseInt(time.group(2));
    if (hour > 24 || minute > 59) {
      return Optional.empty();
    }
    String half = time.group(3) == null ? "" : time.group(3).replaceAll("[. ]", "");
    boolean known = !half.isEmpty() && !half.equals("o'clock");
    if (known && hour <= HOURS) {
      boolean after = half.equals("pm") || half.equals("noon");
      return Optional.of(
          new ClockTime((hour % HOURS + (after ? HOURS : 0)) * 60 + minute, true, true));
    }
    boolean ofTheDay = hour > HOURS || time.group(1).startsWith("0");
    return Optional.of(new ClockTime(hour * 60 + minute, known || ofTheDay, known));
  }

  /** Whether two texts are times rather than ratios, as {@code 15:20} may be. */
  boolean isTimeBeside(ClockTime other) {
    return spoken || other.spoken;
  }

  /**
   * Whether an answer names this time. It may say the half of the day where the gold does not, as
   * long as it has the gold's digits: a gold {@code 15:20} may be a ratio.
   */
  boolean isAnsweredBy(ClockTime answer) {
    return spoken
        ? answer.half && minutes == answer.minutes
        : !half && minutes % (HOURS * 60) == answer.minutes % (HOURS * 60);
  }
}
