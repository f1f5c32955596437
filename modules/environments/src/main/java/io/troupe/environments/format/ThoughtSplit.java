package io.troupe.environments.format;

import io.troupe.core.prompt.ThoughtMarks;

/**
 * An answer in two: what it thinks, and the rest, in which calls are read. A thought ends with the
 * first {@code </think>}: behind it the tag is a text like any other, as in the argument of a call.
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
    boolean opens = lead.startsWith(ThoughtMarks.THINK.opens());
    if (!thinksFirst && !opens) {
      return new ThoughtSplit("", answer, 0, false);
    }
    int begin = opens ? answer.length() - lead.length() + ThoughtMarks.THINK.opens().length() : 0;
    int end = answer.indexOf(ThoughtMarks.THINK.closes(), begin);
    if (end < 0) {
      return new ThoughtSplit(answer.substring(begin), "", answer.length(), true);
    }
    int from = end + ThoughtMarks.THINK.closes().length();
    return new ThoughtSplit(answer.substring(begin, end), answer.substring(from), from, false);
  }
}
