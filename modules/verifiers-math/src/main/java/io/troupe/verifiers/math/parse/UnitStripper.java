package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Takes units off an answer where that is safe: behind a value, and before the end or the next
 * value of a list. Degrees, percent and currency count as units. Two known units that differ are
 * two answers; a missing or unknown one says nothing.
 *
 * @param rest the tokens without units
 * @param unit in one spelling, such as {@code cm^2}; empty if there was none
 * @param known whether all of the unit's words are in the table
 */
record UnitStripper(List<AnswerToken> rest, String unit, boolean known) {
  private static final Map<String, String> ALIASES = aliases();

  /** Words behind a number that change what is said, and so are never dropped as a unit. */
  private static final Set<String> CLAIMS =
      Set.of(
          "not",
          "no",
          "none",
          "wrong",
          "incorrect",
          "false",
          "true",
          "except",
          "mod",
          "modulo",
          "less",
          "more",
          "greater",
          "least",
          "most",
          "about",
          "approximately",
          "base",
          "if",
          "when",
          "where",
          "times",
          "plus",
          "minus",
          "maybe",
          "perhaps",
          "or",
          "and",
          "but",
          "than",
          "over",
          "divided",
          "isn't",
          "thousand",
          "million",
          "billion",
          "hundred",
          "dozen",
          "remainder",
          "otherwise",
          "for",
          "half",
          "halves",
          "thirds",
          "quarters",
          "squared");

  private static final Set<String> SINGLE =
      Set.of("m", "g", "s", "h", "L", "l", "N", "J", "W", "V");

  static UnitStripper of(List<AnswerToken> tokens) {
    List<AnswerToken> rest = new ArrayList<>();
    String unit = "";
    boolean known = true;
    boolean angle = tokens.stream().noneMatch(UnitStripper::isFunction);
    int at = 0;
    while (at < tokens.size()) {
      int end = isValue(rest) ? unitEnd(tokens, at, angle) : at;
      boolean prefix = isPrefix(tokens, at, rest);
      if (prefix) {
        end = at + 1;
      }
      boolean safe = end > at && (prefix || endsValue(tokens, end));
      String name = safe ? name(tokens.subList(at, end)) : "";
      if (!safe || hasClaim(name)) {
        rest.add(tokens.get(at++));
        continue;
      }
      known &= isKnown(name);
      unit = name;
      at = end;
    }
    return new UnitStripper(List.copyOf(rest), unit, known);
  }

  /** Also takes off a last single letter that is the sign of a unit, for numbers only. */
  static UnitStripper withLetter(List<AnswerToken> tokens) {
    int last = tokens.size() - 1;
    boolean letter =
        last >= 1
            && tokens.get(last).kind() == Kind.LETTER
            && SINGLE.contains(tokens.get(last).text())
            && isValue(tokens.subList(0, last));
    return letter
        ? new UnitStripper(tokens.subList(0, last), tokens.get(last).text(), true)
        : new UnitStripper(tokens, "", true);
  }

  boolean agreesWith(UnitStripper other) {
    return unit.isEmpty()
        || other.unit.isEmpty()
        || !known
        || !other.known
        || unit.equals(other.unit);
  }

  private static boolean isFunction(AnswerToken token) {
    return token.kind() == Kind.COMMAND && Operator.function(token.text()).isPresent();
  }

  private static boolean isValue(List<AnswerToken> before) {
    if (before.isEmpty()) {
      return false;
    }
    AnswerToken last = before.get(before.size() - 1);
    return last.kind() == Kind.NUMBER
        || last.isSign("}")
        || last.isSign(")")
        || last.kind() == Kind.LETTER
        || last.isCommand("pi");
  }

  private static boolean endsValue(List<AnswerToken> tokens, int at) {
    if (at >= tokens.size()) {
      return true;
    }
    AnswerToken next = tokens.get(at);
    return next.isSign(",")
        || next.isSign(";")
        || next.isSign(")")
        || next.isSign("]")
        || next.isSign("\\}")
        || next.isCommand("and")
        || next.isCommand("or");
  }

  private static boolean isPrefix(List<AnswerToken> tokens, int at, List<AnswerToken> rest) {
    AnswerToken token = tokens.get(at);
    boolean currency =
        token.isSign("$") || token.is(Kind.TEXT, "euros") || token.is(Kind.TEXT, "pounds");
    boolean first =
        rest.isEmpty()
            || rest.get(rest.size() - 1).isSign("-")
            || rest.get(rest.size() - 1).isSign("=")
            || rest.get(rest.size() - 1).isSign(",");
    return currency && first && at + 1 < tokens.size();
  }

  /**
   * The end of the longest run of words, powers and signs of units from here; {@code at} if none.
   */
  private static int unitEnd(List<AnswerToken> tokens, int at, boolean angle) {
    int end = at;
    boolean word = false;
    while (end < tokens.size()) {
      AnswerToken token = tokens.get(end);
      int power = word ? powerEnd(tokens, end) : end;
      int degrees = angle && !word ? degreesEnd(tokens, end) : end;
      if (degrees > end) {
        end = degrees;
        word = true;
      } else if (power > end) {
        end = power;
      } else if (token.isSign("%") || (token.isSign("$") && !word)) {
        end++;
      } else if (token.kind() == Kind.TEXT
          || (token.kind() == Kind.WORD && (word || isUnitWord(token.text())))) {
        word = true;
        end++;
      } else if (word && token.isSign("/")) {
        end++;
      } else {
        break;
      }
    }
    return end;
  }

  private static boolean isUnitWord(String word) {
    return word.length() > 3 || ALIASES.containsKey(word.toLowerCase(Locale.ROOT));
  }

  private static int degreesEnd(List<AnswerToken> tokens, int at) {
    if (is(tokens, at, "circ")) {
      return at + 1;
    }
    if (!sign(tokens, at, "^")) {
      return at;
    }
    if (is(tokens, at + 1, "circ")) {
      return at + 2;
    }
    return sign(tokens, at + 1, "{") && is(tokens, at + 2, "circ") && sign(tokens, at + 3, "}")
        ? at + 4
        : at;
  }

  private static int powerEnd(List<AnswerToken> tokens, int at) {
    if (!sign(tokens, at, "^")) {
      return at;
    }
    if (at + 1 < tokens.size() && tokens.get(at + 1).kind() == Kind.NUMBER) {
      return at + 2;
    }
    boolean braced =
        sign(tokens, at + 1, "{")
            && at + 2 < tokens.size()
            && tokens.get(at + 2).kind() == Kind.NUMBER
            && sign(tokens, at + 3, "}");
    return braced ? at + 4 : at;
  }

  private static boolean is(List<AnswerToken> tokens, int at, String command) {
    return at < tokens.size() && tokens.get(at).isCommand(command);
  }

  private static boolean sign(List<AnswerToken> tokens, int at, String sign) {
    return at < tokens.size() && tokens.get(at).isSign(sign);
  }

  private static String name(List<AnswerToken> run) {
    StringBuilder text = new StringBuilder();
    for (AnswerToken token : run) {
      boolean joined = token.kind() == Kind.SIGN || token.kind() == Kind.NUMBER;
      String piece =
          token.isSign("%")
              ? "percent"
              : token.isSign("$") ? "dollar" : token.isCommand("circ") ? "degree" : token.text();
      if (token.isSign("{") || token.isSign("}")) {
        continue;
      }
      if (token.isSign("^") && text.isEmpty()) {
        continue; // of degrees
      }
      text.append(joined || text.isEmpty() ? "" : " ").append(piece);
    }
    return canonical(text.toString().toLowerCase(Locale.ROOT));
  }

  private static String canonical(String text) {
    List<String> words = new ArrayList<>();
    String power = "";
    for (String word : text.replace(".", " ").replace("/", " per ").strip().split("\\s+", 12)) {
      String name = word;
      int hat = word.indexOf('^');
      String raised = hat > 0 ? word.substring(hat) : "";
      name = hat > 0 ? word.substring(0, hat) : name;
      switch (name) {
        case "square", "sq" -> power = "^2";
        case "cubic" -> power = "^3";
        default -> {
          String base = ALIASES.getOrDefault(name, name);
          if (!base.equals("unit")) {
            words.add(base + (raised.isEmpty() ? power : raised));
          }
          power = "";
        }
      }
    }
    return words.isEmpty() ? "unit" : String.join(" ", words);
  }

  private static boolean isKnown(String name) {
    for (String word : name.split(" ", -1)) {
      int hat = word.indexOf('^');
      String base = hat > 0 ? word.substring(0, hat) : word;
      if (!base.equals("per") && !ALIASES.containsValue(base)) {
        return false;
      }
      if (base.equals("unit")) {
        return false;
      }
    }
    return true;
  }

  private static boolean hasClaim(String name) {
    String[] words = name.split("[^a-z']+", -1);
    for (String word : words) {
      if (CLAIMS.contains(word)) {
        return true;
      }
    }
    return words.length > 6 || name.chars().anyMatch(c -> c == '=' || c == '\\');
  }

  private static Map<String, String> aliases() {
    Map<String, String> map = new HashMap<>();
    String[] rows = {
      "cm centimeter centimeters centimetre centimetres",
      "mm millimeter millimeters millimetre millimetres",
      "m meter meters metre metres",
      "km kilometer kilometers kilometre kilometres kms",
      "inch inches in",
      "ft foot feet",
      "yd yard yards",
      "mi mile miles",
      "s sec secs second seconds",
      "min mins minute minutes",
      "h hr hrs hour hours",
      "day days",
      "week weeks",
      "month months",
      "year years yr yrs",
      "kg kilogram kilograms",
      "g gram grams gm",
      "mg milligram milligrams",
      "lb lbs pound pounds",
      "oz ounce ounces",
      "l liter liters litre litres",
      "ml milliliter milliliters",
      "dollar dollars usd",
      "cent cents",
      "euro euros",
      "degree degrees deg",
      "radian radians rad",
      "percent pct percentage",
      "mph",
      "unit units"
    };
    for (String row : rows) {
      String[] words = row.split(" ", -1);
      for (String word : words) {
        map.put(word, words[0]);
      }
    }
    return Map.copyOf(map);
  }
}
