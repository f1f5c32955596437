package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
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

  /** Longer numerals with a base are not read, since their pattern backtracks. */
  private static final int MOST_IN_BASE = 80;

  private static final Pattern IN_BASE =
      Pattern.compile(
          "([0-9A-Fa-f]*[0-9][0-9A-Fa-f]*) ?_ ?(?:\\{?(?:\\\\text ?\\{)? ?([0-9]{1,2}|[a-z]{3,8})"
              + " ?}{0,2})");

  private static final Pattern MARKUP =
      Pattern.compile(
          "\\\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|mathrm|mathbf|mathit|emph|hbox)\\b");

  private static final Pattern WORDS = Pattern.compile("[a-z][a-z ,.'’-]*");

  /**
   * One meaning of an answer.
   *
   * @param units units that were taken off
   * @param onlyForNumbers whether it counts only where no variables are expected
   */
  public record Reading(Expr expr, UnitStripper units, boolean onlyForNumbers) {
    public boolean agreesWith(Reading gold) {
      return units.agreesWith(gold.units) && (!onlyForNumbers || isNumber(gold.expr));
    }

    private static boolean isNumber(Expr expr) {
      Set<String> names = new HashSet<>();
      Expr.variables(expr, names);
      return names.isEmpty();
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
    Matcher inBase = IN_BASE.matcher(text);
    if (text.length() <= MOST_IN_BASE && text.indexOf('_') > 0 && inBase.matches()) {
      Optional<Expr> numeral = numeral(inBase.group(1), inBase.group(2));
      if (numeral.isPresent()) {
        UnitStripper none = new UnitStripper(tokens, "", true);
        return new ParsedAnswer(
            tokens, words, List.of(new Reading(numeral.get(), none, false)), false);
      }
    }
    List<UnitStripper> candidates = new ArrayList<>();
    UnitStripper first = UnitStripper.of(tokens);
    candidates.add(first);
    List<AnswerToken> separated = AnswerTokenizer.tokens(text, false);
    if (!separated.equals(tokens)) {
      candidates.add(UnitStripper.of(separated));
    }
    UnitStripper letter = UnitStripper.withLetter(tokens);
    if (!letter.unit().isEmpty()) {
      candidates.add(letter);
    }
    return read(tokens, words, candidates, letter, budget);
  }

  private static ParsedAnswer read(
      List<AnswerToken> tokens,
      String words,
      List<UnitStripper> candidates,
      UnitStripper letter,
      StepBudget budget) {
    List<Reading> readings = new ArrayList<>();
    boolean tooLarge = false;
    for (UnitStripper candidate : candidates) {
      try {
        Expr expr = AnswerParser.parse(candidate.rest(), budget);
        boolean asUnit = !letter.unit().isEmpty() && candidate.equals(letter);
        readings.add(new Reading(expr, candidate, asUnit));
      } catch (UnresolvedException e) {
        tooLarge |= e.why() == UnresolvedException.Why.TOO_LARGE;
      }
    }
    return new ParsedAnswer(tokens, words, List.copyOf(readings), tooLarge && readings.isEmpty());
  }

  private static Optional<Expr> numeral(String digits, String base) {
    try {
      int value = AtomParser.base(base);
      boolean fits = digits.chars().allMatch(c -> Character.digit(c, value) >= 0);
      return fits ? Optional.of(new Expr.InBase(digits, value)) : Optional.empty();
    } catch (UnresolvedException _) {
      return Optional.empty();
    }
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
      if (!other.tokens.get(i).is(mine.kind(), mine.text())) {
        return false;
      }
    }
    return true;
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
