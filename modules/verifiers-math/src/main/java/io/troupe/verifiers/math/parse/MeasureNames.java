package io.troupe.verifiers.math.parse;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is measured, before the equals sign of an answer: {@code P(\text{heads})=\frac38}, {@code
 * \det A=5}, {@code \operatorname{Var}(X)=2}. It becomes a name in words, since its argument may be
 * anything.
 */
final class MeasureNames {
  private static final Pattern HEAD =
      Pattern.compile(
          "\\s*(?:\\\\(?:Pr|det|dim|deg|max|min|sup|inf|mathbb ?\\{? ?[PEV] ?\\}?"
              + "|(?:operatorname|text|mathrm|mathit) ?\\{ ?[A-Za-z ]{2,20}\\})"
              + "|(?:Pr|Var|Cov|det|rank|max|min)(?![a-z])|[PEVn](?=[(\\[]|\\\\left))"
              + " ?(?:\\\\left ?)?");

  private static final Pattern EVENT =
      Pattern.compile("\\\\(?:text|mid|cap|cup|ge|le|geq|leq|overline|bar)(?![a-z])|[=<>|]|[A-Z]");

  private static final Pattern LETTER = Pattern.compile("[A-Za-z](?![A-Za-z]) ?");
  private static final Pattern EQUALS = Pattern.compile("\\s*(?==|\\\\approx)");

  private MeasureNames() {}

  static String inWords(String text) {
    Matcher head = HEAD.matcher(text);
    if (!head.lookingAt()) {
      return text;
    }
    int end = argument(text, head.end());
    Matcher equals = EQUALS.matcher(text).region(end, text.length());
    boolean parameter =
        head.group().strip().length() == 1
            && !EVENT.matcher(text.substring(head.end(), end)).find();
    boolean numbers = text.substring(head.end(), end).matches("\\([0-9, ]+\\)");
    if (parameter || numbers || !equals.lookingAt()) {
      return text;
    }
    String name = words(text.substring(0, end));
    return name.isEmpty() ? text : "\\text{m " + name + "}" + text.substring(end);
  }

  /** Letters alone, so that the name is one text: digits become letters of their own. */
  private static String words(String measured) {
    StringBuilder letters = new StringBuilder();
    for (char c : measured.replaceAll("\\\\[a-z]+", " ").toCharArray()) {
      letters.append(
          AnswerTokenizer.isDigit(c)
              ? "d" + (char) ('a' + c - '0')
              : AnswerTokenizer.isLetter(c) ? String.valueOf(c) : " ");
    }
    return letters.toString().strip().replaceAll(" +", " ");
  }

  /** The end of what is in brackets, or of one letter. */
  private static int argument(String text, int from) {
    boolean bracket = from < text.length() && "([".indexOf(text.charAt(from)) >= 0;
    if (!bracket) {
      Matcher letter = LETTER.matcher(text).region(from, text.length());
      return letter.lookingAt() ? letter.end() : from;
    }
    int open = 0;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (open == 0) {
        return i + 1;
      }
    }
    return from;
  }
}
