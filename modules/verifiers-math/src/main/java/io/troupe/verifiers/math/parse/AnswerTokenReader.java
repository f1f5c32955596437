package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Units;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A position in an answer's tokens. */
final class AnswerTokenReader {
  private final List<AnswerToken> tokens;
  private int at;

  AnswerTokenReader(List<AnswerToken> tokens) {
    this.tokens = new ArrayList<>(tokens);
  }

  boolean atEnd() {
    return at >= tokens.size();
  }

  AnswerToken peek() {
    return peek(0);
  }

  AnswerToken peek(int ahead) {
    return at + ahead < tokens.size() ? tokens.get(at + ahead) : AnswerToken.END;
  }

  AnswerToken next() {
    AnswerToken token = peek();
    at = Math.min(tokens.size(), at + 1);
    return token;
  }

  boolean takes(Kind kind, String text) {
    if (!peek().is(kind, text)) {
      return false;
    }
    at++;
    return true;
  }

  boolean takesSign(String text) {
    return takes(Kind.SIGN, text);
  }

  boolean takesCommand(String name) {
    return takes(Kind.COMMAND, name);
  }

  void expectSign(String text) {
    if (!takesSign(text)) {
      throw AnswerParser.unreadable();
    }
  }

  /** A place to come back to. */
  int mark() {
    return at;
  }

  /** Goes back to a place, before which no token was taken apart. */
  void reset(int mark) {
    at = mark;
  }

  /** Whether the token before is a unit that the next one is a smaller part of. */
  boolean previousIsUnitLike(AnswerToken next) {
    if (at == 0 || tokens.get(at - 1).kind() != Kind.UNIT) {
      return false;
    }
    Units before = Units.of(tokens.get(at - 1).text());
    Units behind = Units.of(next.text());
    return !before.powers().isEmpty()
        && before.powers().equals(behind.powers())
        && behind.factor().compareTo(before.factor()) < 0;
  }

  boolean previousIsNumber() {
    return at > 0 && tokens.get(at - 1).kind() == Kind.NUMBER;
  }

  /** Takes the sign of a relation. */
  Optional<Sign> takesRelation() {
    AnswerToken token = peek();
    Optional<Sign> sign =
        token.kind() == Kind.SIGN || token.kind() == Kind.COMMAND
            ? relation(token.text())
            : Optional.empty();
    if (sign.isPresent()) {
      at++;
    }
    return sign;
  }

  private static Optional<Sign> relation(String text) {
    return switch (text) {
      case "=" -> Optional.of(Sign.EQUAL);
      case "<" -> Optional.of(Sign.LESS);
      case ">" -> Optional.of(Sign.GREATER);
      case "le" -> Optional.of(Sign.LESS_OR_EQUAL);
      case "ge" -> Optional.of(Sign.GREATER_OR_EQUAL);
      case "ne" -> Optional.of(Sign.NOT_EQUAL);
      case "approx" -> Optional.of(Sign.APPROXIMATELY);
      case "in" -> Optional.of(Sign.IN);
      case "notin" -> Optional.of(Sign.NOT_IN);
      case "subset" -> Optional.of(Sign.SUBSET);
      case "equiv" -> Optional.of(Sign.EQUAL);
      case "parallel" -> Optional.of(Sign.PARALLEL);
      case "perp" -> Optional.of(Sign.PERPENDICULAR);
      case "cong" -> Optional.of(Sign.CONGRUENT);
      case "sim" -> Optional.of(Sign.SIMILAR);
      default -> Optional.empty();
    };
  }

  boolean peekIsDegrees() {
    return peek().isCommand("circ")
        || (peek().isSign("^")
            && (peek(1).isCommand("circ")
                || (peek(1).isSign("{") && peek(2).isCommand("circ") && peek(3).isSign("}"))));
  }

  boolean takesDegrees() {
    if (!peekIsDegrees()) {
      return false;
    }
    at += peek().isCommand("circ") ? 1 : peek(1).isCommand("circ") ? 2 : 4;
    return true;
  }

  /** Takes what is in brackets behind a name in words: {@code \text{Area}(ABC) = }. */
  String takeNamed() {
    if (!peek().isSign("(")) {
      return "";
    }
    StringBuilder inside = new StringBuilder();
    int length = 1;
    while (!peek(length).isSign(")")) {
      AnswerToken token = peek(length++);
      boolean plain = token.kind() == Kind.LETTER || token.kind() == Kind.WORD;
      if (!plain && !token.isSign(",")) {
        return "";
      }
      inside.append(token.text());
    }
    if (!peek(length + 1).isSign("=")) {
      return "";
    }
    at += length + 1;
    return "(" + inside + ")";
  }

  /** Takes a subscript: a token, or all of a group, as text. */
  String takeSubscript() {
    if (!takesSign("{")) {
      AnswerToken token = next();
      return switch (token.kind()) {
        case NUMBER, LETTER, TEXT, WORD -> token.text();
        case COMMAND, SIGN, UNIT, BASED, END -> throw AnswerParser.unreadable();
      };
    }
    StringBuilder text = new StringBuilder();
    while (!takesSign("}")) {
      AnswerToken token = next();
      if (token.kind() == Kind.END || token.isSign("{")) {
        throw AnswerParser.unreadable();
      }
      text.append(token.text());
    }
    return text.toString();
  }

  /** The fraction of a mixed number, if one follows the integer just read. */
  Optional<Expr> takeFraction(Numeral integer) {
    if (integer.decimal() || !integer.value().isInteger()) {
      return Optional.empty();
    }
    if (peek().isCommand("frac")) {
      int start = at++;
      Optional<String> top = integerArgument();
      Optional<String> bottom = top.isPresent() ? integerArgument() : Optional.empty();
      if (bottom.isPresent()) {
        return Optional.of(fraction(top.orElseThrow(), bottom.get()));
      }
      at = start;
      return Optional.empty();
    }
    boolean plain =
        peek().kind() == Kind.NUMBER
            && peek().spaced()
            && peek(1).isSign("/")
            && peek(2).kind() == Kind.NUMBER;
    if (!plain) {
      return Optional.empty();
    }
    String top = next().text();
    at++;
    return Optional.of(fraction(top, next().text()));
  }

  private static Expr fraction(String top, String bottom) {
    return new Call(Operator.DIVIDE, AtomParser.number(top), AtomParser.number(bottom));
  }

  private Optional<String> integerArgument() {
    if (peek().isSign("{")
        && peek(1).kind() == Kind.NUMBER
        && AtomParser.isDigits(peek(1).text())
        && peek(2).isSign("}")) {
      at += 3;
      return Optional.of(tokens.get(at - 2).text());
    }
    return peek().kind() == Kind.NUMBER && AtomParser.isDigits(peek().text())
        ? Optional.of(takeDigit())
        : Optional.empty();
  }

  /** Takes the first digit of a number and leaves the rest: {@code \frac43}. */
  String takeDigit() {
    String number = peek().text();
    if (!AnswerTokenizer.isDigit(number.charAt(0))) {
      throw AnswerParser.unreadable();
    }
    return takeFirst(number, Kind.NUMBER);
  }

  /** Takes the first letter of a word and leaves the rest: {@code \frac ab}. */
  String takeLetter() {
    return takeFirst(peek().text(), Kind.WORD);
  }

  private String takeFirst(String text, Kind kind) {
    if (text.length() == 1) {
      at++;
      return text;
    }
    String rest = text.substring(1);
    boolean letter = kind == Kind.WORD && rest.length() == 1;
    tokens.set(at, new AnswerToken(letter ? Kind.LETTER : kind, rest, false));
    return text.substring(0, 1);
  }
}
