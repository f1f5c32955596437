package io.troupe.verifiers.math;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the answer behind words in a box or a tag that only announce it: {@code \text{Answer: }5},
 * {@code \text{There are 5 ways}}, {@code \text{The distance is }3\sqrt2}.
 */
final class AnnouncedAnswer {
  private static final Pattern LEAD =
      Pattern.compile(
          "(?i)\\s*(\\\\text(?:bf|it|rm)? ?\\{ ?|\\*\\*)?(?:(?:so|thus|hence|therefore),? )?"
              + "(?:(?:the|my|our) )?(?:(?:final|correct|right) )?(?:answer|result|solution)s?"
              + " ?(?:is|are|:|=)? ?(\\}|\\*\\*)? ?(?:(?<=[}* ])(?:is|are|:|=))? ?"
              + "(?<=is |are |: |[:=}*])[~ ]*");

  /** A sentence up to its value, which has a digit or a command. */
  private static final Pattern SENTENCE =
      Pattern.compile(
          "\\s*(\\\\(?:text(?:bf|it|rm)?|mbox) ?\\{ ?)?"
              + "((?i:there (?:is|are)(?: only| exactly)?|only|exactly)"
              + "|[A-Za-z][A-Za-z ,'’-]{0,80}?(?: (?:is|are|equals)(?: equal to)?:?|:))"
              + " ?(\\})?[~ ]*(?=[^a-zA-Z]*[0-9\\\\$])(?=[^a-zA-Z])");

  /** Words of a sentence that does not say what the value is, or says it of another value. */
  private static final Pattern CLAIM =
      Pattern.compile(
          "(?i)(?<![a-z])(?:not|no|isn't|never|none|least|most|less|more|than|incorrect|wrong|false"
              + "|if|unless|or|nor|either|between|except|without|maybe|perhaps|possibly|about"
              + "|approximately|roughly|nearly|almost|cannot|can't|unlikely|neither|but|true|statement"
              + "|option|choice|half of|twice|(?:negative|minus|opposite)(?=:| is| are| equals)"
              + ")(?![a-z])");

  private AnnouncedAnswer() {}

  /** Returns the answer without the words that announce it. */
  static String of(String answer) {
    Matcher lead = LEAD.matcher(answer);
    if (!lead.lookingAt() || lead.end() == answer.length()) {
      return behindSentence(answer);
    }
    String rest = answer.substring(lead.end());
    boolean opened = lead.group(1) != null;
    if (opened == (lead.group(2) != null)) {
      return rest;
    }
    return opened && lead.group(1).startsWith("\\") ? lead.group(1).strip() + rest : answer;
  }

  private static String behindSentence(String answer) {
    Matcher sentence = SENTENCE.matcher(answer);
    boolean says =
        sentence.lookingAt()
            && sentence.end() < answer.length()
            && !CLAIM.matcher(sentence.group(2)).find()
            && (sentence.group(1) != null || sentence.group(3) == null);
    if (!says) {
      return answer;
    }
    String rest = answer.substring(sentence.end());
    boolean open = sentence.group(1) != null && sentence.group(3) == null;
    return open ? sentence.group(1).strip() + rest : rest;
  }
}
