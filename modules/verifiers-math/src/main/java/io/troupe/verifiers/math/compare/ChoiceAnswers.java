package io.troupe.verifiers.math.compare;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A choice of several, with its text or without: {@code (D)}, {@code (D) 24}, {@code Option D}.
 *
 * @param letter in lower case
 * @param text behind the letter, as it was written; empty if there is none
 */
record ChoiceAnswers(char letter, String text) {
  private static final String MARKUP =
      "(?:\\\\(?:text|textbf|mathrm|mathbf|textit|textrm|bf|rm|mbox) ?\\{? ?)*";

  /** A letter in brackets, or before a bracket, point or colon. */
  private static final Pattern LETTERED =
      Pattern.compile(
          MARKUP
              + "(?:\\( ?"
              + MARKUP
              + "([A-Ja-j]) ?\\}? ?\\)|\\[([A-Ja-j])\\]|([A-Ja-j])\\}? ?[).:])[ }~]*(.*)",
          Pattern.DOTALL);

  private static final Pattern NAMED =
      Pattern.compile(
          MARKUP + "(?i:the )?(?i:option|choice|answer|statement)[ ~}]*\\(?([A-Ja-j])\\)?[ }.]*");

  private static final Pattern DASHED =
      Pattern.compile("([A-J])\\}? +- +((?:\\\\text ?\\{ ?)?[A-Za-z]{2}[A-Za-z ,.'}]*)");

  private static final Pattern LONE = Pattern.compile(MARKUP + "([A-J])[ }]*");

  private static final Pattern OTHER =
      Pattern.compile("(?:\\(([A-Ja-j])\\)|(?:^|[ ,])(?:or|and|,) ?\\(?([A-J])\\)?(?![A-Za-z]))");

  /** Reads a gold answer or an answer; empty if it is no choice, or several. */
  static Optional<ChoiceAnswers> of(String written) {
    String text = written.replace("\\ ", " ").replace("\\,", " ").replace("\\quad", " ").strip();
    Matcher lettered = LETTERED.matcher(text);
    if (lettered.matches()) {
      String letter = first(lettered.group(1), lettered.group(2), lettered.group(3));
      return choice(letter, lettered.group(4));
    }
    Matcher named = NAMED.matcher(text);
    if (named.matches()) {
      return choice(named.group(1), "");
    }
    Matcher dashed = DASHED.matcher(text);
    if (dashed.matches()) {
      return choice(dashed.group(1), dashed.group(2));
    }
    Matcher lone = LONE.matcher(text);
    return lone.matches() ? choice(lone.group(1), "") : Optional.empty();
  }

  private static Optional<ChoiceAnswers> choice(String letter, String behind) {
    if (OTHER.matcher(behind).find()) {
      return Optional.empty();
    }
    String text = behind.strip();
    boolean unpaired =
        text.endsWith("}")
            && text.chars().filter(c -> c == '{').count()
                < text.chars().filter(c -> c == '}').count();
    return Optional.of(
        new ChoiceAnswers(
            Character.toLowerCase(letter.charAt(0)),
            unpaired ? text.substring(0, text.length() - 1).strip() : text));
  }

  private static String first(String... groups) {
    for (String group : groups) {
      if (group != null) {
        return group;
      }
    }
    throw new IllegalStateException("a pattern that matched has a letter");
  }

  boolean hasText() {
    return !text.isEmpty();
  }
}
