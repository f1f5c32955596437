package io.troupe.verifiers.math;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An answer that is announced where it is read: {@code \boxed{\text{The answer is } 12}}. */
final class AnnouncedAnswer {
  private static final Pattern LEAD =
      Pattern.compile(
          "(?i)\\s*(\\\\text(?:bf|it|rm)? ?\\{ ?|\\*\\*)?(?:(?:so|thus|hence|therefore),? )?"
              + "(?:(?:the|my|our) )?(?:(?:final|correct|right) )?(?:answer|result|solution)s?"
              + " ?(?:is|are|:|=)? ?(\\}|\\*\\*)? ?(?:(?<=[}* ])(?:is|are|:|=))? ?"
              + "(?<=is |are |: |[:=}*])[~ ]*");

  private AnnouncedAnswer() {}

  /** Returns the answer without the words that announce it. */
  static String of(String answer) {
    Matcher lead = LEAD.matcher(answer);
    boolean announced =
        lead.lookingAt()
            && (lead.group(1) == null) == (lead.group(2) == null)
            && lead.end() < answer.length();
    return announced ? answer.substring(lead.end()) : answer;
  }
}
