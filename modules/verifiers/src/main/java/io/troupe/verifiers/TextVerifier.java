package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.Arrays;
import java.util.Locale;

/**
 * Rewards a completion that is one of the accepted texts: those of the answer, a line each. White
 * space at both ends is ignored, and runs of it inside are one blank.
 *
 * @param ignoreCase whether letters are compared without case
 */
record TextVerifier(boolean ignoreCase) implements Verifier {
  @Override
  public Verdict verify(Prompt prompt, String completion) {
    String written = normal(completion);
    boolean accepted =
        Arrays.stream(prompt.answer().split("\n", -1)).map(this::normal).anyMatch(written::equals);
    return accepted
        ? new Verdict.Scored(1, Excerpt.of(written), "an accepted text")
        : new Verdict.Scored(0, Excerpt.of(written), "another text");
  }

  private String normal(String text) {
    String blanks = text.strip().replaceAll("\\s+", " ");
    return ignoreCase ? blanks.toLowerCase(Locale.ROOT) : blanks;
  }
}
