package io.troupe.verifiers.math.parse;

/**
 * The period of a repeating decimal behind its plain digits: {@code 0.1\overline{6}}, {@code
 * 0.\dot{2}\dot{7}}, {@code 0.(27)}, {@code 0.333\ldots}.
 *
 * @param numeral the whole numeral with its period in brackets; with {@code ~} behind it if it only
 *     breaks off
 * @param end the position behind it
 */
record Repetend(String numeral, int end) {
  private static final String[] BARS = {"\\overline", "\\bar", "\\widehat", "\\dot"};
  private static final String[] DOTS = {"\\ldots", "\\dots", "\\cdots", "..."};

  /** Whether a period begins there. */
  static boolean begins(String text, int at) {
    return bar(text, at) > at || bracket(text, at) > at;
  }

  /** Reads what follows the digits that were read so far. */
  static Repetend at(String text, int at, String digits) {
    int bracket = bracket(text, at);
    if (bracket > at && (digits.startsWith("0.") || digits.endsWith("."))) {
      return new Repetend("%s(%s)".formatted(digits, text.substring(at + 1, bracket - 1)), bracket);
    }
    int first = bar(text, at);
    if (first > at) {
      String period = digitsIn(text, at, first);
      int plain = first;
      while (plain < text.length() && AnswerTokenizer.isDigit(text.charAt(plain))) {
        plain++;
      }
      boolean dotted = text.startsWith("\\dot", at);
      int last = dotted ? bar(text, plain) : plain;
      boolean closes = dotted && last > plain && text.startsWith("\\dot", plain);
      return closes
          ? new Repetend(
              "%s(%s%s%s)"
                  .formatted(
                      digits, period, text.substring(first, plain), digitsIn(text, plain, last)),
              last)
          : new Repetend("%s(%s)".formatted(digits, period), first);
    }
    if (at < text.length() && text.charAt(at) == '\u0305') {
      int last = digits.length() - 1;
      return new Repetend(
          "%s(%s)".formatted(digits.substring(0, last), digits.substring(last)), at + 1);
    }
    return dots(text, at, digits);
  }

  private static Repetend dots(String text, int at, String digits) {
    int from = at;
    while (from < text.length() && text.charAt(from) == ' ') {
      from++;
    }
    for (String dots : DOTS) {
      int end = from + dots.length();
      boolean ends =
          text.startsWith(dots, from)
              && text.substring(end).strip().isEmpty()
              && digits.indexOf('.') < digits.length() - 3;
      if (ends) {
        return new Repetend(repeated(digits), text.length());
      }
    }
    return new Repetend(digits, at);
  }

  /** The shortest period that the digits at the end repeat, three digits of it at least. */
  private static String repeated(String digits) {
    String decimals = digits.substring(digits.indexOf('.') + 1);
    for (int period = 1; period * 2 <= decimals.length(); period++) {
      int same = 0;
      for (int i = decimals.length() - 1;
          i >= period && decimals.charAt(i) == decimals.charAt(i - period);
          i--) {
        same++;
      }
      if (same >= period && same + period >= 3) {
        int end = decimals.length() - same;
        String whole = digits.substring(0, digits.indexOf('.') + 1);
        return "%s%s(%s)"
            .formatted(
                whole, decimals.substring(0, end - period), decimals.substring(end - period, end));
      }
    }
    return digits + "~";
  }

  private static int bracket(String text, int at) {
    int i = at + 1;
    if (at >= text.length() || text.charAt(at) != '(' || at == 0) {
      return at;
    }
    while (i < text.length() && AnswerTokenizer.isDigit(text.charAt(i))) {
      i++;
    }
    return i > at + 1 && i < text.length() && text.charAt(i) == ')' ? i + 1 : at;
  }

  private static int bar(String text, int at) {
    for (String bar : BARS) {
      if (!text.startsWith(bar, at)) {
        continue;
      }
      int i = at + bar.length();
      while (i < text.length() && text.charAt(i) == ' ') {
        i++;
      }
      boolean braced = i < text.length() && text.charAt(i) == '{';
      int start = braced ? i + 1 : i;
      int end = start;
      while (end < text.length()
          && AnswerTokenizer.isDigit(text.charAt(end))
          && (braced || end == start)) {
        end++;
      }
      if (end > start && (!braced || (end < text.length() && text.charAt(end) == '}'))) {
        return braced ? end + 1 : end;
      }
    }
    return at;
  }

  private static String digitsIn(String text, int from, int to) {
    StringBuilder digits = new StringBuilder();
    text.substring(from, to)
        .chars()
        .filter(c -> c >= '0' && c <= '9')
        .forEach(c -> digits.append((char) c));
    return digits.toString();
  }
}
