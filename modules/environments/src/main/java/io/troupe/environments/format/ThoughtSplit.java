package io.troupe.environments.format;

import io.troupe.core.prompt.ThoughtMarks;

/**
 * An answer in two: what it thinks, and the rest, in which calls are read. A thought ends with the
 * first end of its own spelling, of any of the {@link ThoughtMarks} where it opened before: behind
 * it the tag is a text like any other, as in the argument of a call. An end that the answer begins
 * with ends an empty one.
 *
 * @param from where the rest begins in the answer
 * @param open whether the thinking has not ended
 */
public record ThoughtSplit(String thought, String rest, int from, boolean open) {
  /**
   * Splits an answer.
   *
   * @param thinksFirst whether the answer begins within thinking
   */
  public static ThoughtSplit of(String answer, boolean thinksFirst) {
    String lead = answer.stripLeading();
    int begin = 0;
    String opens = "";
    for (ThoughtMarks marks : ThoughtMarks.values()) {
      if (lead.startsWith(marks.opens())) {
        begin = answer.length() - lead.length() + marks.opens().length();
        opens = marks.opens();
      }
    }
    if (!thinksFirst && begin == 0) {
      int behind = ThoughtMarks.behindLeadingEnd(answer);
      return new ThoughtSplit("", answer.substring(behind), behind, false);
    }
    int end = -1;
    int from = answer.length();
    for (ThoughtMarks marks : ThoughtMarks.values()) {
      boolean other = !opens.isEmpty() && !opens.equals(marks.opens());
      int at = other ? -1 : answer.indexOf(marks.closes(), begin);
      if (at >= 0 && (end < 0 || at < end)) {
        end = at;
        from = at + marks.closes().length();
      }
    }
    return end < 0
        ? new ThoughtSplit(answer.substring(begin), "", answer.length(), true)
        : new ThoughtSplit(answer.substring(begin, end), answer.substring(from), from, false);
  }
}
