package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.UnitTable;
import io.troupe.verifiers.math.expr.Units;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Finds units behind values, and puts one token for each: words, powers, products and quotients of
 * them, degrees, percent, currencies. Only what ends a value is a unit, and a single letter only if
 * the caller says so, since it may be a variable.
 */
final class UnitReader {
  private static final int MOST_PIECES = 14;

  private final List<AnswerToken> tokens;
  private final boolean letters;
  private final boolean angles;
  private final List<AnswerToken> out = new ArrayList<>();

  private UnitReader(List<AnswerToken> tokens, boolean letters) {
    this.tokens = tokens;
    this.letters = letters;
    this.angles = tokens.stream().noneMatch(UnitReader::isFunction);
  }

  /** The tokens with units; {@code letters} says whether a unit may begin with a single letter. */
  static List<AnswerToken> read(List<AnswerToken> tokens, boolean letters) {
    return new UnitReader(tokens, letters).run();
  }

  /** Whether a text is symbols of units, with powers and quotients, and nothing else. */
  static boolean isUnit(String text) {
    List<String> pieces = new ArrayList<>();
    return text(text, pieces)
        && pieces.stream()
            .allMatch(piece -> "/*^".indexOf(piece.charAt(0)) >= 0 || Units.isSymbols(piece));
  }

  private List<AnswerToken> run() {
    int at = 0;
    while (at < tokens.size()) {
      if (isPrefix(at)) {
        out.add(new AnswerToken(Kind.UNIT, tokens.get(at).text(), true));
        at += isSign(at + 1, ".") ? 2 : 1;
        continue;
      }
      List<String> pieces = new ArrayList<>();
      int end = followsValue() ? unit(at, pieces) : at;
      if (end > at && isSafe(pieces) && endsValue(end)) {
        out.add(new AnswerToken(Kind.UNIT, Units.joined(pieces), true));
        at = end;
      } else {
        out.add(tokens.get(at++));
      }
    }
    return List.copyOf(out);
  }

  private static boolean isFunction(AnswerToken token) {
    return token.kind() == Kind.COMMAND && Operator.function(token.text()).isPresent();
  }

  private static boolean isSafe(List<String> pieces) {
    boolean power = List.of("squared", "cubed").contains(pieces.get(0).toLowerCase(Locale.ROOT));
    return !power
        && pieces.size() <= MOST_PIECES
        && pieces.stream().noneMatch(piece -> UnitTable.isClaim(piece.toLowerCase(Locale.ROOT)));
  }

  private boolean followsValue() {
    if (out.isEmpty()) {
      return false;
    }
    AnswerToken last = out.getLast();
    return last.kind() == Kind.NUMBER
        || last.isSign("}")
        || last.isSign(")")
        || last.kind() == Kind.LETTER
        || last.isCommand("pi");
  }

  private boolean endsValue(int at) {
    if (at >= tokens.size()) {
      return true;
    }
    AnswerToken next = tokens.get(at);
    return switch (next.kind()) {
      case SIGN -> ",;)]&=<>".contains(next.text()) || next.isSign("\\}") || next.isSign("\\\\");
      case COMMAND ->
          List.of("and", "or", "le", "ge", "approx", "ne", "setminus").contains(next.text())
              || next.text().startsWith("end:");
      case NUMBER -> true;
      case LETTER, WORD, TEXT, UNIT, BASED, END -> false;
    };
  }

  /** A currency before its amount. */
  private boolean isPrefix(int at) {
    AnswerToken token = tokens.get(at);
    boolean currency =
        token.isSign("$")
            || (List.of(Kind.TEXT, Kind.WORD).contains(token.kind())
                && List.of(
                        "euros", "pounds", "rupees", "yen", "won", "rubles", "USD", "EUR", "Rs",
                        "Rs.", "INR", "GBP", "$")
                    .contains(token.text()));
    boolean first =
        out.isEmpty()
            || out.getLast().isSign("-")
            || out.getLast().isSign("=")
            || out.getLast().isSign(",")
            || out.getLast().isSign("(")
            || out.getLast().isCommand("and")
            || out.getLast().isCommand("or");
    return currency && first && at + 1 < tokens.size();
  }

  /** The end of the longest run of pieces of a unit from here; {@code from} if there is none. */
  private int unit(int from, List<String> pieces) {
    int at = from;
    int end = from;
    while (at < tokens.size()) {
      AnswerToken token = tokens.get(at);
      int next = name(at, pieces);
      if (next > at) {
        at = next;
        end = at;
        continue;
      }
      boolean joint = token.isSign("/") || token.isSign("*");
      if (!joint || pieces.isEmpty() || at + 1 >= tokens.size()) {
        break;
      }
      int size = pieces.size();
      pieces.add(token.text());
      next = name(at + 1, pieces);
      if (next == at + 1) {
        pieces.subList(size, pieces.size()).clear();
        break;
      }
      at = next;
      end = at;
    }
    return end;
  }

  private int name(int at, List<String> pieces) {
    AnswerToken token = tokens.get(at);
    boolean begun = !pieces.isEmpty();
    int degrees = begun || !angles ? at : degrees(at);
    if (degrees > at) {
      return temperature(degrees, pieces);
    }
    return switch (token.kind()) {
      case TEXT -> text(token.text(), pieces) ? power(at + 1, pieces) : at;
      case WORD -> {
        boolean known = UnitTable.isShortWord(token.text());
        boolean noun = token.text().length() > 3 && out.getLast().kind() != Kind.LETTER;
        if (!known && !noun && !begun) {
          yield at;
        }
        pieces.add(token.text());
        yield power(at + 1, pieces);
      }
      case LETTER -> {
        String letter = token.text().equals("\\Omega") ? "Ω" : token.text();
        boolean micro = letter.equals("\\mu") && at + 1 < tokens.size();
        if (micro && Units.isSymbols("μ" + tokens.get(at + 1).text())) {
          pieces.add("μ" + tokens.get(at + 1).text());
          yield power(at + 2, pieces);
        }
        boolean sign = letter.equals("Ω") || ((letters || begun) && Units.isSymbols(letter));
        if (!sign) {
          yield at;
        }
        pieces.add(letter);
        yield power(at + 1, pieces);
      }
      case COMMAND -> {
        boolean inches =
            token.isCommand("in")
                && (begun || out.getLast().kind() == Kind.NUMBER || isSign(at + 1, "^"));
        if (inches) {
          pieces.add("in");
          yield power(at + 1, pieces);
        }
        yield token.isCommand("frac") ? quotient(at, pieces) : at;
      }
      case SIGN -> {
        if (!begun && (token.isSign("%") || token.isSign("$"))) {
          pieces.add(token.text());
          yield at + 1;
        }
        yield begun ? at : ordinal(at, pieces);
      }
      case NUMBER, UNIT, BASED, END -> at;
    };
  }

  /** {@code 5^{\text{th}}}. */
  private int ordinal(int at, List<String> pieces) {
    int name = isSign(at, "^") ? (isSign(at + 1, "{") ? at + 2 : at + 1) : at;
    if (name == at || name >= tokens.size()) {
      return at;
    }
    String word = tokens.get(name).text();
    boolean small = List.of("th", "st", "nd", "rd").contains(word);
    boolean closed = name == at + 1 || isSign(name + 1, "}");
    if (!small || !closed) {
      return at;
    }
    pieces.add(word);
    return name == at + 1 ? name + 1 : name + 2;
  }

  private int quotient(int at, List<String> pieces) {
    int size = pieces.size();
    int middle = braced(at + 1, pieces);
    if (middle > at + 1) {
      pieces.add("/");
      int end = braced(middle, pieces);
      if (end > middle) {
        return end;
      }
    }
    pieces.subList(size, pieces.size()).clear();
    return at;
  }

  private int braced(int at, List<String> pieces) {
    if (!isSign(at, "{")) {
      return at;
    }
    List<String> inside = new ArrayList<>();
    UnitReader reader = new UnitReader(tokens, true);
    reader.out.add(new AnswerToken(Kind.NUMBER, "1", false));
    int end = reader.unit(at + 1, inside);
    if (end == at + 1 || !isSign(end, "}") || inside.contains("/")) {
      return at;
    }
    pieces.addAll(inside);
    return end + 1;
  }

  private int temperature(int at, List<String> pieces) {
    if (at < tokens.size()) {
      String name = tokens.get(at).text().strip();
      Kind kind = tokens.get(at).kind();
      boolean word = kind == Kind.LETTER || kind == Kind.WORD || kind == Kind.TEXT;
      String scale =
          !word
              ? ""
              : switch (name.toLowerCase(Locale.ROOT)) {
                case "c", "celsius" -> "celsius";
                case "f", "fahrenheit" -> "fahrenheit";
                default -> "";
              };
      if (!scale.isEmpty() && !name.equals("c") && !name.equals("f")) {
        pieces.add(scale);
        return at + 1;
      }
    }
    pieces.add("degree");
    return at;
  }

  /** Cuts words, powers and quotients out of the text in {@code \text{…}}. */
  private static boolean text(String text, List<String> pieces) {
    String plain =
        text.replace("\\cdot", "*")
            .replaceAll("\\\\[,;: ]", " ")
            .replace("\\Omega", "Ω")
            .replaceAll("(?<=[A-Za-z])\\.", "")
            .replace("\\", "");
    int i = 0;
    int size = pieces.size();
    while (i < plain.length()) {
      char c = plain.charAt(i);
      int end = i + 1;
      if (Character.isLetter(c)) {
        while (end < plain.length()
            && (Character.isLetter(plain.charAt(end)) || plain.charAt(end) == '\'')) {
          end++;
        }
        pieces.add(plain.substring(i, end));
      } else if (c == '^') {
        while (end < plain.length() && "{}-0123456789".indexOf(plain.charAt(end)) >= 0) {
          end++;
        }
        pieces.add(plain.substring(i, end).replaceAll("[{}]", ""));
      } else if (c == '/' || c == '*') {
        pieces.add(String.valueOf(c));
      } else if ("%$€".indexOf(c) >= 0) {
        pieces.add(String.valueOf(c));
      } else if (" -,;:()!\"".indexOf(c) < 0) {
        pieces.subList(size, pieces.size()).clear();
        return false;
      }
      i = end;
    }
    return pieces.size() > size;
  }

  private int power(int at, List<String> pieces) {
    if (at < tokens.size()
        && tokens.get(at).kind() == Kind.NUMBER
        && !tokens.get(at).spaced()
        && tokens.get(at).text().matches("[23]")
        && UnitTable.find(pieces.getLast()).isPresent()) {
      pieces.add("^" + tokens.get(at).text());
      return at + 1;
    }
    if (!isSign(at, "^")) {
      return at;
    }
    boolean braced = isSign(at + 1, "{");
    int number = braced ? at + 2 : at + 1;
    boolean minus = isSign(number, "-");
    number += minus ? 1 : 0;
    boolean digit =
        number < tokens.size()
            && tokens.get(number).kind() == Kind.NUMBER
            && tokens.get(number).text().length() == 1
            && (!braced || isSign(number + 1, "}"));
    if (!digit) {
      return at;
    }
    pieces.add("^" + (minus ? "-" : "") + tokens.get(number).text());
    return braced ? number + 2 : number + 1;
  }

  private int degrees(int at) {
    if (isCommand(at, "circ")) {
      return at + 1;
    }
    if (!isSign(at, "^")) {
      return at;
    }
    if (isDegree(at + 1)) {
      return at + 2;
    }
    return isSign(at + 1, "{") && isDegree(at + 2) && isSign(at + 3, "}") ? at + 4 : at;
  }

  private boolean isDegree(int at) {
    return isCommand(at, "circ")
        || (at < tokens.size()
            && List.of(Kind.LETTER, Kind.TEXT).contains(tokens.get(at).kind())
            && tokens.get(at).text().equals("o"));
  }

  private boolean isCommand(int at, String command) {
    return at < tokens.size() && tokens.get(at).isCommand(command);
  }

  private boolean isSign(int at, String sign) {
    return at >= 0 && at < tokens.size() && tokens.get(at).isSign(sign);
  }
}
