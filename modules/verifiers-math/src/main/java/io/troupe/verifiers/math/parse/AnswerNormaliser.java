package io.troupe.verifiers.math.parse;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Brings what people, keyboards and models write for the same sign to one spelling, before an
 * answer is cut into tokens. It changes characters and markup, never the mathematics.
 */
final class AnswerNormaliser {
  /** Represents a comma that can only separate thousands: {@code 10,\!080}, {@code 1{,}000}. */
  static final char THOUSANDS = '\ue000';

  /** Signs at the beginning of an answer that only announce it. */
  private static final Pattern LEADING_SIGN =
      Pattern.compile(
          "(?:\\\\(?:therefore|because|implies|Rightarrow|longrightarrow|to|approx|sim|simeq|cong|doteq)(?![a-zA-Z])"
              + "|=) *");

  private static final Pattern TAG = Pattern.compile("<(/?)(sup|sub|b|i|em|strong)>");

  /** Commands that a text with doubled backslashes shows to be doubled. */
  private static final Set<String> COMMANDS =
      Set.of(
          "frac",
          "dfrac",
          "tfrac",
          "sqrt",
          "text",
          "pi",
          "infty",
          "le",
          "leq",
          "ge",
          "geq",
          "left",
          "right",
          "cup",
          "cap",
          "begin",
          "end",
          "times",
          "cdot",
          "circ",
          "in",
          "mathbb",
          "mathrm",
          "pm",
          "theta",
          "alpha",
          "sin",
          "cos",
          "tan",
          "ln",
          "log",
          "textbf",
          "boxed",
          "binom",
          "ne",
          "neq",
          "mbox",
          "overline",
          "quad",
          "angle",
          "approx");

  private AnswerNormaliser() {}

  /** Returns the answer with one spelling for each sign, and without text around it. */
  static String normalise(String answer) {
    String text = tags(UnicodeSigns.latex(singleBackslashes(answer)));
    String plain = trimmed(thousands(AnswerNotations.rewritten(Qualifiers.removed(text))));
    return MeasureNames.inWords(plain);
  }

  /** A text whose every command has two backslashes was escaped once too often. */
  private static String singleBackslashes(String text) {
    if (!text.contains("\\\\")) {
      return text;
    }
    boolean command = false;
    int at = text.indexOf('\\');
    while (at >= 0) {
      if (at + 1 >= text.length() || text.charAt(at + 1) != '\\') {
        return text;
      }
      int end = at + 2;
      while (end < text.length() && AnswerTokenizer.isLetter(text.charAt(end))) {
        end++;
      }
      command |= COMMANDS.contains(text.substring(at + 2, end));
      at = text.indexOf('\\', at + 2);
    }
    return command ? text.replace("\\\\", "\\") : text;
  }

  private static String tags(String text) {
    if (text.indexOf('<') < 0 && text.indexOf('&') < 0) {
      return text;
    }
    Matcher tag = TAG.matcher(text);
    String without =
        tag.replaceAll(
            found ->
                switch (found.group(2)) {
                  case "sup" -> found.group(1).isEmpty() ? "^{" : "}";
                  case "sub" -> found.group(1).isEmpty() ? "_{" : "}";
                  default -> "";
                });
    return without
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", " ")
        .replace("&le;", "\\le ")
        .replace("&ge;", "\\ge ")
        .replace("&times;", "\\times ")
        .replace("&minus;", "-");
  }

  private static String thousands(String text) {
    if (text.indexOf("\\!") < 0 && text.indexOf("{,}") < 0) {
      return text;
    }
    String marked = text.replace("{,}", String.valueOf(THOUSANDS));
    StringBuilder out = new StringBuilder(marked.length());
    int i = 0;
    while (i < marked.length()) {
      if (marked.startsWith("\\!", i)) {
        i += 2;
        while (i < marked.length() && marked.charAt(i) == ' ') {
          i++;
        }
        int last = out.length() - 1;
        if (last >= 0 && out.charAt(last) == ',') {
          out.setCharAt(last, THOUSANDS);
        }
      } else {
        out.append(marked.charAt(i++));
      }
    }
    return out.toString();
  }

  /** Takes off, again and again, delimiters of mathematics, emphasis and a sentence's end. */
  private static String trimmed(String text) {
    String rest = text.strip();
    while (true) {
      String less = withoutEnds(rest);
      if (less.length() == rest.length()) {
        return rest;
      }
      rest = less.strip();
    }
  }

  private static String withoutEnds(String text) {
    for (String[] pair : PAIRS) {
      if (text.length() >= pair[0].length() + pair[1].length()
          && text.startsWith(pair[0])
          && text.endsWith(pair[1])) {
        return text.substring(pair[0].length(), text.length() - pair[1].length());
      }
    }
    for (String end : ENDS) {
      if (text.length() > end.length() && text.endsWith(end)) {
        return text.substring(0, text.length() - end.length());
      }
    }
    Matcher sign = LEADING_SIGN.matcher(text);
    if (sign.lookingAt() && sign.end() < text.length()) {
      return text.substring(sign.end());
    }
    if (!text.isEmpty() && ".,;:".indexOf(text.charAt(text.length() - 1)) >= 0) {
      boolean dots = text.endsWith("..");
      boolean escaped = text.endsWith("\\,") || text.endsWith("\\;") || text.endsWith("\\:");
      return dots ? text : text.substring(0, text.length() - (escaped ? 2 : 1));
    }
    return text;
  }

  private static final String[] ENDS = {
    "\\\\", "\\square", "\\blacksquare", "\\Box", "\\qed", "\\checkmark", "\\quad", "\\qquad"
  };

  private static final String[][] PAIRS = {
    {"$$", "$$"},
    {"$", "$"},
    {"\\(", "\\)"},
    {"\\[", "\\]"},
    {"**", "**"},
    {"`", "`"}
  };
}
