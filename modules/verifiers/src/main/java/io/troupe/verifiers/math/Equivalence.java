package io.troupe.verifiers.math;

import java.util.Locale;
import java.util.Optional;

/**
 * Whether two written answers are the same: by their text, else by their meaning. A comparison ends
 * within its budget.
 */
final class Equivalence {
  private Equivalence() {}

  /** Whether an answer can be compared at all, as a text at least. */
  static boolean isGold(String gold) {
    return !Answer.read(gold, new Budget()).isBlank();
  }

  /** Compares within the budget, which several comparisons may share. */
  static Finding compare(String gold, String answer, Budget budget) {
    try {
      return compare(Answer.read(gold, budget), Answer.read(answer, budget), budget);
    } catch (Unresolved _) { // only a spent budget comes this far
      return Finding.different("too large to evaluate");
    }
  }

  private static Finding compare(Answer gold, Answer answer, Budget budget) {
    if (answer.isBlank()) {
      return Finding.different("the answer is empty");
    }
    if (gold.tooLarge()) {
      return new Finding(Finding.Kind.GOLD_TOO_LARGE, "the gold answer is too large to read");
    }
    if (answer.tooLarge()) {
      return Finding.different("too large to evaluate");
    }
    if (gold.sameText(answer)) {
      return Finding.equal("the same text");
    }
    if (gold.isWords() && gold.words().equals(answer.words())) {
      return Finding.equal("the same words");
    }
    if (gold.hasDots() || answer.hasDots()) {
      return Finding.different("sequences with dots count only if written alike");
    }
    Optional<Character> choice = gold.choice();
    if (choice.isPresent() && chooses(answer.words(), choice.get())) {
      return Finding.equal("the same choice");
    }
    return readings(gold, answer, budget);
  }

  /**
   * Whether text begins with {@code (c)}, {@code c)}, {@code c.} or {@code c:}, and has no other.
   */
  private static boolean chooses(String words, char choice) {
    String rest = words.startsWith("(") ? words.substring(1) : words;
    boolean begins =
        rest.length() > 2 && rest.charAt(0) == choice && ").:".indexOf(rest.charAt(1)) >= 0;
    if (!begins) {
      return false;
    }
    String after = rest.substring(2).toLowerCase(Locale.ROOT);
    for (char other = 'a'; other <= 'j'; other++) {
      if (after.contains("(" + other + ")") || after.contains(" " + other + ")")) {
        return false;
      }
    }
    return true;
  }

  private static Finding readings(Answer gold, Answer answer, Budget budget) {
    if (gold.readings().isEmpty()) {
      return Finding.different("the gold answer is compared as text, and the text differs");
    }
    if (answer.readings().isEmpty()) {
      return Finding.different("the answer is not read as mathematics");
    }
    Optional<Finding> first = Optional.empty();
    for (Answer.Reading wanted : gold.readings()) {
      for (Answer.Reading given : answer.readings()) {
        if (wanted.onlyForNumbers() || !given.agreesWith(wanted)) {
          continue;
        }
        Finding finding = compare(wanted.expr(), given.expr(), budget);
        if (finding.isEqual()) {
          return finding;
        }
        first = first.or(() -> Optional.of(finding));
      }
    }
    return first.orElse(Finding.different("other units"));
  }

  private static Finding compare(Expr gold, Expr answer, Budget budget) {
    try {
      return new Comparison(budget).compare(gold, answer);
    } catch (Unresolved e) {
      return switch (e.why()) {
        case TOO_LARGE ->
            isTooLarge(gold)
                ? new Finding(
                    Finding.Kind.GOLD_TOO_LARGE, "the gold answer is too large to evaluate")
                : Finding.different("too large to evaluate");
        case UNDEFINED -> Finding.different("a value is undefined");
        case UNREADABLE -> Finding.different("the answer is not read as mathematics");
      };
    }
  }

  /** Whether an expression cannot even be compared with zero. */
  private static boolean isTooLarge(Expr gold) {
    try {
      new Comparison(new Budget()).compare(gold, new Expr.Numeral(Rational.ZERO, false));
      return false;
    } catch (Unresolved e) {
      return e.why() == Unresolved.Why.TOO_LARGE;
    }
  }
}
