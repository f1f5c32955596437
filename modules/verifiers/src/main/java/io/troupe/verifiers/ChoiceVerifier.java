package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewards a completion that chooses the prompt's letter, {@code A} to {@code Z}.
 *
 * <p>The choice is the letter after the last {@code answer is} or {@code answer:}, or in the last
 * {@code \boxed{}}, whichever comes last; without one, the completion itself if it is a letter
 * alone, or followed by {@code .}, {@code )} or {@code :} and any text. Parentheses, Markdown's
 * emphasis and LaTeX around a letter do not count. Letters are compared without case; after {@code
 * answer is} a small letter that other words follow is no choice, because {@code a} is a word.
 */
final class ChoiceVerifier implements Verifier {
  private static final String OPENS =
      "(?:[*_`$({\\[\\s]|\\\\(?:boxed|fbox|text|textbf|mathrm|mathbf)\\b){0,12}";
  private static final String CLOSES = "[*_`$)}\\]]{0,8}";
  private static final String ENDS = CLOSES + "\\s{0,8}(?:[.,:;!?\n]|$)";

  private static final Pattern STATED =
      Pattern.compile(
          "(?:(?i:\\banswer)[*_]{0,3}(?i: is|:)[*_]{0,3}:?(?i:\\s{0,8}option\\b)?"
              + OPENS
              + "|\\\\(?:boxed|fbox)\\{"
              + OPENS
              + ")([A-Z](?![A-Za-z0-9])|[a-z](?="
              + ENDS
              + "))");
  private static final Pattern ALONE =
      Pattern.compile("(?s)" + OPENS + "([A-Za-z])" + CLOSES + "\\s{0,8}(?:[.):].*)?");

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
