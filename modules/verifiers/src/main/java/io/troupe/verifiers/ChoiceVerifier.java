package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewards a completion that chooses the prompt's letter, {@code A} to {@code Z}.
 *
 * <p>The choice is the letter after the last {@code answer is} or {@code answer:}, in parentheses
 * or not; without one, the completion itself if it is a letter alone, in parentheses, or followed
 * by {@code .}, {@code )} or {@code :} and any text. Letters are compared without case.
 */
final class ChoiceVerifier implements Verifier {
  private static final Pattern STATED =
      Pattern.compile("(?i)\\banswer(?: is|:)\\s{0,8}\\(?([a-z])\\)?(?![a-z0-9])");
  private static final Pattern ALONE = Pattern.compile("(?s)\\(?([A-Za-z])(?:[.):].*)?");

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    String expected = prompt.answer().strip();
    if (!expected.matches("[A-Za-z]")) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT,
          "the answer of prompt %s is no letter: %s".formatted(prompt.id(), Excerpt.of(expected)));
    }
    String chosen = "";
    for (Matcher stated = STATED.matcher(completion); stated.find(); ) {
      chosen = stated.group(1);
    }
    Matcher alone = ALONE.matcher(completion.strip());
    if (chosen.isEmpty() && alone.matches()) {
      chosen = alone.group(1);
    }
    if (chosen.isEmpty()) {
      return new Verdict.Scored(0, "", "no letter chosen");
    }
    return chosen.equalsIgnoreCase(expected)
        ? new Verdict.Scored(1, chosen, "the right letter")
        : new Verdict.Scored(0, chosen, "another letter");
  }
}
