package io.troupe.verifiers.math;

import io.troupe.verifiers.GoldReading;
import io.troupe.verifiers.math.parse.Expr;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import io.troupe.verifiers.math.parse.Rational;
import io.troupe.verifiers.math.parse.StepBudget;
import io.troupe.verifiers.math.parse.UnresolvedException;
import java.util.Locale;
import java.util.Optional;

/**
 * Whether two written answers are the same: by their text, else by their meaning. A comparison ends
 * within its budget.
 */
final class AnswerEquivalence {
  private AnswerEquivalence() {}

  /** Whether an answer can be compared at all, as a text at least. */
  static boolean isGold(String gold) {
    return !ParsedAnswer.read(gold, new StepBudget()).isBlank();
  }

  /** Returns how an expected answer is read. */
  static GoldReading readingOf(String gold) {
    ParsedAnswer read = ParsedAnswer.read(gold, new StepBudget());
    if (read.isBlank()) {
      return GoldReading.NONE;
    }
    if (read.isWords()) {
      return GoldReading.WORDS;
    }
    return read.readings().isEmpty() ? GoldReading.TEXT : GoldReading.MATHEMATICS;
  }

  /** Compares within the budget, which several comparisons may share. */
  static ComparisonResult compare(String gold, String answer, StepBudget budget) {
    try {
      return compare(ParsedAnswer.read(gold, budget), ParsedAnswer.read(answer, budget), budget);
    } catch (UnresolvedException _) { // only a spent budget comes this far
      return ComparisonResult.different("too large to evaluate");
    }
  }

  private static ComparisonResult compare(
      ParsedAnswer gold, ParsedAnswer answer, StepBudget budget) {
    if (answer.isBlank()) {
      return ComparisonResult.different("the answer is empty");
    }
    if (gold.tooLarge()) {
      return new ComparisonResult(
          ComparisonResult.Kind.GOLD_TOO_LARGE, "the gold answer is too large to read");
    }
    if (answer.tooLarge()) {
      return ComparisonResult.different("too large to evaluate");
    }
    if (gold.sameText(answer)) {
      return ComparisonResult.equal("the same text");
    }
    if (gold.isWords() && gold.words().equals(answer.words())) {
      return ComparisonResult.equal("the same words");
    }
    if (gold.hasDots() || answer.hasDots()) {
      return ComparisonResult.different("sequences with dots count only if written alike");
    }
    Optional<Character> choice = gold.choice();
    if (choice.isPresent() && chooses(answer.words(), choice.get())) {
      return ComparisonResult.equal("the same choice");
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

  private static ComparisonResult readings(
      ParsedAnswer gold, ParsedAnswer answer, StepBudget budget) {
    if (gold.readings().isEmpty()) {
      return ComparisonResult.different(
          "the gold answer is compared as text, and the text differs");
    }
    if (answer.readings().isEmpty()) {
      return ComparisonResult.different("the answer is not read as mathematics");
    }
    Optional<ComparisonResult> first = Optional.empty();
    for (ParsedAnswer.Reading wanted : gold.readings()) {
      for (ParsedAnswer.Reading given : answer.readings()) {
        if (wanted.onlyForNumbers() || !given.agreesWith(wanted)) {
          continue;
        }
        ComparisonResult finding = compare(wanted.expr(), given.expr(), budget);
        if (finding.isEqual()) {
          return finding;
        }
        first = first.or(() -> Optional.of(finding));
      }
    }
    return first.orElse(ComparisonResult.different("other units"));
  }

  private static ComparisonResult compare(Expr gold, Expr answer, StepBudget budget) {
    try {
      return new AnswerComparison(budget).compare(gold, answer);
    } catch (UnresolvedException e) {
      return switch (e.why()) {
        case TOO_LARGE ->
            isTooLarge(gold)
                ? new ComparisonResult(
                    ComparisonResult.Kind.GOLD_TOO_LARGE,
                    "the gold answer is too large to evaluate")
                : ComparisonResult.different("too large to evaluate");
        case UNDEFINED -> ComparisonResult.different("a value is undefined");
        case UNREADABLE -> ComparisonResult.different("the answer is not read as mathematics");
      };
    }
  }

  /** Whether an expression cannot even be compared with zero. */
  private static boolean isTooLarge(Expr gold) {
    try {
      new AnswerComparison(new StepBudget()).compare(gold, new Expr.Numeral(Rational.ZERO, false));
      return false;
    } catch (UnresolvedException e) {
      return e.why() == UnresolvedException.Why.TOO_LARGE;
    }
  }
}
