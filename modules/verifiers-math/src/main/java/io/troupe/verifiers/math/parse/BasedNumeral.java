package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Digits with their base, which may hold letters: {@code 2F_{16}}, {@code 1101 (base 2)}. */
final class BasedNumeral {
  /** Longer numerals are not read, since the patterns backtrack. */
  private static final int MOST_CHARACTERS = 80;

  private static final Pattern MARKUP =
      Pattern.compile(
          "\\\\(?:text(?:bf|rm|up)?|mathrm|mathbf|mbox|operatorname)|\\\\[,;!: ]|[{}~ ]");

  private static final Pattern NUMERAL =
      Pattern.compile(
          "\\(?([0-9A-Fa-f]*[0-9][0-9A-Fa-f]*)\\)?(?:_\\(?|\\(?(?:in)?base-?)([0-9]{1,2}|[a-z]{3,8})\\)?");

  private BasedNumeral() {}

  static Optional<Expr> read(String text) {
    boolean may = text.indexOf('_') > 0 || text.contains("base");
    if (!may || text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    Matcher numeral = NUMERAL.matcher(MARKUP.matcher(text).replaceAll(""));
    if (!numeral.matches() || text.matches("[0-9]{1,3}(?:_[0-9]{3})+")) {
      return Optional.empty();
    }
    try {
      int base = AtomParser.base(numeral.group(2));
      String digits = numeral.group(1);
      boolean fits = digits.chars().allMatch(c -> Character.digit(c, base) >= 0);
      return fits ? Optional.of(new Expr.InBase(digits, base)) : Optional.empty();
    } catch (UnresolvedException _) {
      return Optional.empty();
    }
  }
}
