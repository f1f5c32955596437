package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.GoldReading;
import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Whether two written answers are the same: by their text, else by their meaning. A comparison ends
 * within its budget.
 */
public final class AnswerEquivalence {
  private static final Pattern BETWEEN_DIGITS =
      Pattern.compile("(?<=[0-9])(?: |\\\\[,;:! ])+(?=[0-9])");

  private AnswerEquivalence() {}

  /** Whether an answer can be compared at all, as a text at least. */
  public static boolean isGold(String gold) {
    return !ParsedAnswer.read(gold, new StepBudget()).isBlank();
  }

  /** Returns how an expected answer is read. */
  public static GoldReading readingOf(String gold) {
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
  public static ComparisonResult compare(String gold, String answer, StepBudget budget) {
    try {
      return compare(
          gold, ParsedAnswer.read(gold, budget), answer, ParsedAnswer.read(answer, budget), budget);
    } catch (UnresolvedException _) { // only a spent budget comes this far
      return ComparisonResult.different("too large to evaluate");
    }
  }

  private static ComparisonResult compare(
      String goldText,
      ParsedAnswer gold,
      String answerText,
      ParsedAnswer answer,
      StepBudget budget) {
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
    if (gold.isWords() && isSameWords(gold, answer)) {
      return ComparisonResult.equal("the same words");
    }
    Optional<ClockTime> time = ClockTime.of(gold.words());
    Optional<ClockTime> otherTime = ClockTime.of(answer.words());
    if (time.isPresent() && otherTime.isPresent() && time.get().isTimeBeside(otherTime.get())) {
      return time.get().isAnsweredBy(otherTime.get())
          ? ComparisonResult.equal("the same time of day")
          : ComparisonResult.different("another time of day");
    }
    if (gold.hasDots() || answer.hasDots()) {
      return ComparisonResult.different("sequences with dots count only if written alike");
    }
    return choice(goldText, answerText, budget)
        .orElseGet(
            () ->
                isConstant(gold) && isConstant(answer) && gold.hasCapitals() != answer.hasCapitals()
                    ? ComparisonResult.different("another letter")
                    : readings(gold, answer, budget));
  }

  /** Whether it is a letter that is a constant in one case, and a name in the other. */
  private static boolean isConstant(ParsedAnswer answer) {
    return answer.words().equals("e") || answer.words().equals("i");
  }

  /** Words in any case; of a single letter the case counts where it is a constant. */
  private static boolean isSameWords(ParsedAnswer gold, ParsedAnswer answer) {
    boolean alleles = LetterOrder.hasPairs(gold.words().replace(" ", ""));
    return !isConstant(gold) && !alleles && WordAnswers.isSame(gold.words(), answer.words());
  }

  /** Compares choices, if the gold answer is one; an answer may be its letter or its text. */
  private static Optional<ComparisonResult> choice(
      String goldText, String answerText, StepBudget budget) {
    Optional<ChoiceAnswers> wanted = ChoiceAnswers.of(goldText);
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    Optional<ChoiceAnswers> given = ChoiceAnswers.of(answerText);
    if (given.isPresent()) {
      boolean same = given.get().letter() == wanted.get().letter();
      boolean texts = given.get().hasText() && wanted.get().hasText();
      return Optional.of(
          same && (!texts || compare(wanted.get().text(), given.get().text(), budget).isEqual())
              ? ComparisonResult.equal("the same choice")
              : ComparisonResult.different("another choice"));
    }
    return wanted.get().hasText()
        ? Optional.of(compare(wanted.get().text(), answerText, budget))
        : Optional.empty();
  }

  private static ComparisonResult readings(
      ParsedAnswer gold, ParsedAnswer answer, StepBudget budget) {
    if (gold.readings().isEmpty()) {
      boolean same =
          squeezed(gold).equals(squeezed(answer))
              || WordAnswers.isSame(gold.words(), answer.words());
      return !gold.words().isEmpty() && same
          ? ComparisonResult.equal("the same text, but for its looks")
          : ComparisonResult.different("the gold answer is compared as text, and the text differs");
    }
    if (answer.readings().isEmpty()) {
      if (gold.words().length() > 1 && squeezed(gold).equals(squeezed(answer))) {
        return ComparisonResult.equal("the same text, but for its looks");
      }
      return ComparisonResult.different("the answer is not read as mathematics");
    }
    Optional<ComparisonResult> first = Optional.empty();
    for (ParsedAnswer.Reading wanted : gold.readings()) {
      for (ParsedAnswer.Reading given : answer.readings()) {
        if (!given.agreesWith(wanted)) {
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

  private static String squeezed(ParsedAnswer answer) {
    String apart = BETWEEN_DIGITS.matcher(answer.words()).replaceAll("_");
    return apart.replaceAll("[ {}$]|\\\\[,;:! ]", "");
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
      new AnswerComparison(new StepBudget()).compare(gold, Expr.Numeral.of(0));
      return false;
    } catch (UnresolvedException e) {
      return e.why() == UnresolvedException.Why.TOO_LARGE;
    }
  }
}
