package io.troupe.verifiers.math.parse;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Notations of whole texts that become others before an answer is cut into tokens. */
final class AnswerNotations {
  /** An interval one of whose brackets is turned outward: {@code ]0,1[}. */
  private static final Pattern OUTWARD =
      Pattern.compile(
          "([\\[\\]]|(?<![A-Za-z])\\()([^\\[\\]()]{1,80}[,;][^\\[\\]()]{1,80})([\\[\\])])");

  private static final Pattern SIZED_BRACKET = Pattern.compile("\\\\(?:left|right)(?=[\\[\\]])");

  private static final Pattern MINUTES =
      Pattern.compile(
          "([0-9]{1,4}) ?\\^ ?\\{? ?\\\\circ ?\\}? ?([0-9]{1,2}(?:\\.[0-9]{1,6})?) ?(?:'|\\^ ?\\{?"
              + " ?\\\\prime ?\\}?)(?!')(?: ?([0-9]{1,2}(?:\\.[0-9]{1,6})?) ?(?:''|\"|\\^ ?\\{?"
              + " ?\\\\prime ?\\\\prime ?\\}?))?");

  /** Feet and inches as the whole answer, {@code 5'6"}; {@code 6'} alone may be minutes. */
  private static final Pattern FEET =
      Pattern.compile(
          "([0-9]{1,4}) ?(?:'|\\^ ?\\{? ?\\\\prime ?\\}?) ?([0-9]{1,2}(?:\\.[0-9]{1,6})?)"
              + " ?(?:''|\"|\\^ ?\\{? ?\\\\prime ?\\\\prime ?\\}?)");

  private static final Pattern CHOOSE =
      Pattern.compile(
          "(?:\\{ ?\\} ?)?[_^] ?\\{? ?([0-9]{1,4}) ?\\}? ?([CP]) ?_ ?\\{? ?([0-9]{1,4}) ?\\}?");

  private static final Pattern CHOOSE_BEHIND =
      Pattern.compile("(?<![A-Za-z])C_ ?\\{? ?([0-9]{1,4}) ?\\}? ?\\^ ?\\{? ?([0-9]{1,4}) ?\\}?");

  private static final Pattern LONE_SIGN = Pattern.compile("\\{ ?([-+=<>:]) ?\\}");

  private static final Pattern LAKHS =
      Pattern.compile("(?<![0-9,.])[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?![0-9])");

  /** A comma in braces that cannot separate thousands: {@code 3{,}14}, {@code 0{,}125}. */
  private static final Pattern DECIMAL_COMMA =
      Pattern.compile(
          "(?<![0-9.,}])(?:(0)\\{,\\}([0-9]+)|([0-9]+)\\{,\\}([0-9]{1,2}|[0-9]{4,}))(?![0-9]|\\{,)");

  /** Points between thousands and a comma before the decimals. */
  private static final Pattern POINTS_AND_COMMA =
      Pattern.compile("(?<![0-9.,])([0-9]{1,3}(?:\\.[0-9]{3})+),([0-9]{1,2})(?![0-9.,])");

  private static final Pattern REALS_BUT =
      Pattern.compile(
          "(?:\\\\text ?\\{ ?)?(?:all |any |the )?real numbers(?: x)?,? (?:except|other than|excluding|but)"
              + "(?: for)?(?: x ?=)?[ }]*+(?:x ?= ?)?([-0-9][^a-zA-Z]{0,40}?(?:(?:and|or) [-0-9]+)?)[ }.]*");

  private AnswerNotations() {}

  static String rewritten(String text) {
    String result = LONE_SIGN.matcher(text).replaceAll("$1");
    if (result.contains("+-") || result.contains("-+")) {
      result = result.replace("+/-", "\\pm ").replaceAll("\\+-(?=[0-9\\\\a-z(])", "\\\\pm ");
    }
    result = result.replace("+/-", "\\pm ");
    Matcher but = REALS_BUT.matcher(result);
    if (but.matches()) {
      String values = but.group(1).replaceAll(" (?:and|or) ", ", ");
      return "\\mathbb{R}\\setminus\\{" + values + "\\}";
    }
    Matcher feet = FEET.matcher(result.strip());
    if (feet.matches()) {
      return feet.replaceFirst("$1 \\\\text{ feet } $2 \\\\text{ inches}");
    }
    if (result.indexOf('[') >= 0 || result.indexOf(']') >= 0) {
      result = inward(SIZED_BRACKET.matcher(result).replaceAll(""));
    }
    if (result.contains("\\circ")) {
      result = MINUTES.matcher(result).replaceAll(AnswerNotations::degrees);
    }
    if (result.indexOf('C') >= 0 || result.indexOf('P') >= 0) {
      result = CHOOSE.matcher(result).replaceAll(AnswerNotations::chosen);
      result = CHOOSE_BEHIND.matcher(result).replaceAll("\\\\binom{$1}{$2}");
    }
    return result.indexOf(',') >= 0 ? commas(result) : result;
  }

  private static String commas(String text) {
    String result = LAKHS.matcher(text).replaceAll(found -> found.group().replace(",", ""));
    result = DECIMAL_COMMA.matcher(result).replaceAll(AnswerNotations::decimal);
    boolean brackets = result.indexOf('(') >= 0 || result.indexOf('[') >= 0;
    return brackets || result.contains("\\{")
        ? result
        : POINTS_AND_COMMA
            .matcher(result)
            .replaceAll(found -> found.group(1).replace(".", "") + "." + found.group(2));
  }

  private static String decimal(java.util.regex.MatchResult found) {
    return found.group(1) == null ? found.group(3) + "." + found.group(4) : "0." + found.group(2);
  }

  private static String inward(String text) {
    return OUTWARD
        .matcher(text)
        .replaceAll(
            found -> {
              String open = found.group(1);
              String close = found.group(3);
              boolean outward = open.equals("]") || close.equals("[");
              String inward =
                  (open.equals("[") ? "[" : "(") + found.group(2) + (close.equals("]") ? "]" : ")");
              return Matcher.quoteReplacement(outward ? inward : found.group());
            });
  }

  private static String degrees(java.util.regex.MatchResult found) {
    String seconds = found.group(3) == null ? "0" : found.group(3);
    return Matcher.quoteReplacement(
        "(%s+%s/60+%s/3600)^\\circ ".formatted(found.group(1), found.group(2), seconds));
  }

  private static String chosen(java.util.regex.MatchResult found) {
    String n = found.group(1);
    String k = found.group(3);
    return Matcher.quoteReplacement(
        found.group(2).equals("C")
            ? "\\binom{%s}{%s}".formatted(n, k)
            : "\\frac{%s!}{(%s-%s)!}".formatted(n, n, k));
  }
}
