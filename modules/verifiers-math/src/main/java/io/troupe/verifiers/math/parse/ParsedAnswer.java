package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.Units;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An answer with all that it may mean. Most have one reading; a comma between three digits gives
 * two, and so does a letter that may be a unit.
 *
 * @param tokens of the first reading, units included
 * @param words the answer as plain words
 * @param readings none if it is not in the grammar
 * @param tooLarge whether it takes more than the budget to read
 */
public record ParsedAnswer(
    List<AnswerToken> tokens, String words, List<Reading> readings, boolean tooLarge) {
  /** Longer answers are none. */
  public static final int MOST_CHARACTERS = 2_000;

  private static final Pattern MARKUP =
      Pattern.compile(
          "\\\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|mathrm|mathbf|mathit|emph|hbox)\\b");

  private static final Pattern WORDS = Pattern.compile("[a-z][a-z ,.'’-]*");

  /**
   * One meaning of an answer.
   *
   * @param unitLetter whether a single letter was read as the sign of a unit, which it may be only
   *     where a number is expected
   */
  public record Reading(Expr expr, boolean unitLetter) {
    /** Whether this answer may be meant so, if that is the gold answer. */
    public boolean agreesWith(Reading gold) {
      boolean answered = !unitLetter || Expr.variables(gold.expr).isEmpty();
      return answered && (!gold.unitLetter || hasUnit(expr));
    }

    private static boolean hasUnit(Expr expr) {
      return expr instanceof Expr.Quantity || Expr.parts(expr).stream().anyMatch(Reading::hasUnit);
    }
  }

  /** Reads an answer, which may have several readings. */
  public static ParsedAnswer read(String written, StepBudget budget) {
    if (written.length() > MOST_CHARACTERS) {
      return new ParsedAnswer(List.of(), "", List.of(), true);
    }
    String text = AnswerNormaliser.normalise(written);
    String words = plainWords(text);
    List<AnswerToken> tokens = AnswerTokenizer.tokens(text, true);
    Optional<Expr> based = BasedNumeral.read(text);
    if (based.isPresent()) {
      return new ParsedAnswer(tokens, words, List.of(new Reading(based.get(), false)), false);
    }
    Map<List<AnswerToken>, Boolean> candidates = new LinkedHashMap<>();
    for (boolean joins : new boolean[] {true, false}) {
      List<AnswerToken> cut =
          TokenNotations.rewritten(joins ? tokens : AnswerTokenizer.tokens(text, false));
      candidates.putIfAbsent(UnitReader.read(cut, false), false);
      candidates.putIfAbsent(UnitReader.read(cut, true), true);
    }
    return read(tokens, words, candidates, budget);
  }

  private static ParsedAnswer read(
      List<AnswerToken> tokens,
      String words,
      Map<List<AnswerToken>, Boolean> candidates,
      StepBudget budget) {
    List<Reading> readings = new ArrayList<>();
    boolean tooLarge = false;
    for (Map.Entry<List<AnswerToken>, Boolean> candidate : candidates.entrySet()) {
      try {
        Expr expr = AnswerParser.parse(candidate.getKey(), budget);
        readings.add(new Reading(expr, candidate.getValue()));
      } catch (UnresolvedException e) {
        tooLarge |= e.why() == UnresolvedException.Why.TOO_LARGE;
      }
    }
    if (readings.isEmpty() && !tooLarge && WORDS.matcher(words).matches()) {
      readings.add(new Reading(new Expr.Words(words), false));
    }
    return new ParsedAnswer(tokens, words, List.copyOf(readings), tooLarge && readings.isEmpty());
  }

  /** Whether nothing is left of the answer after normalisation. */
  public boolean isBlank() {
    return tokens.isEmpty() && !tooLarge;
  }

  /** Whether the answer leaves something out, so that only the same text has the same meaning. */
  public boolean hasDots() {
    return tokens.stream().anyMatch(token -> token.isCommand("ldots"));
  }

  /** Whether the answer is words and no mathematics. */
  public boolean isWords() {
    return WORDS.matcher(words).matches();
  }

  /** Whether both answers have the same tokens. */
  public boolean sameText(ParsedAnswer other) {
    if (tokens.isEmpty() || tokens.size() != other.tokens.size()) {
      return false;
    }
    for (int i = 0; i < tokens.size(); i++) {
      AnswerToken mine = tokens.get(i);
      AnswerToken theirs = other.tokens.get(i);
      boolean same =
          (mine.kind() == Kind.TEXT && mine.text().strip().length() > 1)
              ? plainWords(mine.text()).equals(plainWords(theirs.text()))
                  && !Units.isSymbols(mine.text())
              : mine.text().equals(theirs.text());
      if (theirs.kind() != mine.kind() || !(same || mine.text().equals(theirs.text()))) {
        return false;
      }
    }
    return true;
  }

  /** Whether a capital is among its letters. */
  public boolean hasCapitals() {
    return tokens.stream().anyMatch(token -> token.text().chars().anyMatch(Character::isUpperCase));
  }

  /** The letter of a multiple choice, if this is one: {@code \text{(C)}}. */
  public Optional<Character> choice() {
    boolean one = words.length() == 1 && words.charAt(0) >= 'a' && words.charAt(0) <= 'j';
    boolean capital =
        tokens.stream()
            .anyMatch(
                token ->
                    token.kind() == Kind.TEXT
                        || (token.kind() == Kind.LETTER
                            && Character.isUpperCase(token.text().charAt(0))));
    return one && capital ? Optional.of(words.charAt(0)) : Optional.empty();
  }

  /**
   * The text without markup, in lower case, with single spaces, without an article before it or
   * punctuation and brackets around it.
   */
  public static String plainWords(String text) {
    String plain = MARKUP.matcher(text).replaceAll(" ");
    StringBuilder kept = new StringBuilder(plain.length());
    for (int i = 0; i < plain.length(); i++) {
      char c = plain.charAt(i);
      boolean space = c == ' ' || c == '{' || c == '}' || c == '$' || c == '~' || c == '"';
      boolean again = kept.isEmpty() || kept.charAt(kept.length() - 1) == ' ';
      if (!space) {
        kept.append(c);
      } else if (!again) {
        kept.append(' ');
      }
    }
    String words = kept.toString().toLowerCase(Locale.ROOT).strip();
    while (!words.isEmpty() && ".,;:!".indexOf(words.charAt(words.length() - 1)) >= 0) {
      words = words.substring(0, words.length() - 1).strip();
    }
    boolean bracketed =
        words.startsWith("(") && words.indexOf(')') == words.length() - 1 && words.length() > 2;
    words = bracketed ? words.substring(1, words.length() - 1).strip() : words;
    for (String article : List.of("the ", "a ", "an ")) {
      if (words.startsWith(article)) {
        return words.substring(article.length()).strip();
      }
    }
    return words;
  }
}
