package io.troupe.verifiers.math.parse;

import java.util.Map;

/**
 * Brings what people, keyboards and models write for the same sign to one spelling, before an
 * answer is cut into tokens. It changes characters, never the mathematics.
 */
final class AnswerNormaliser {
  /** Represents a comma that can only separate thousands: {@code 10,\!080}, {@code 1{,}000}. */
  static final char THOUSANDS = '\ue000';

  private static final Map<Character, String> SIGNS =
      Map.ofEntries(
          Map.entry('\u2212', "-"),
          Map.entry('\u2010', "-"),
          Map.entry('\u2011', "-"),
          Map.entry('\u2012', "-"),
          Map.entry('\u2013', "-"),
          Map.entry('\u2014', "-"),
          Map.entry('\ufe63', "-"),
          Map.entry('\u00d7', "\\times "),
          Map.entry('\u00b7', "\\cdot "),
          Map.entry('\u22c5', "\\cdot "),
          Map.entry('\u00f7', "\\div "),
          Map.entry('\u2215', "/"),
          Map.entry('\u2044', "/"),
          Map.entry('\u221a', "\\sqrt "),
          Map.entry('\u03c0', "\\pi "),
          Map.entry('\u221e', "\\infty "),
          Map.entry('\u00b0', "^\\circ "),
          Map.entry('\u2264', "\\le "),
          Map.entry('\u2265', "\\ge "),
          Map.entry('\u2260', "\\ne "),
          Map.entry('\u2248', "\\approx "),
          Map.entry('\u00b1', "\\pm "),
          Map.entry('\u2213', "\\mp "),
          Map.entry('\u222a', "\\cup "),
          Map.entry('\u2229', "\\cap "),
          Map.entry('\u2216', "\\setminus "),
          Map.entry('\u2208', "\\in "),
          Map.entry('\u2205', "\\emptyset "),
          Map.entry('\u211d', "\\mathbb{R}"),
          Map.entry('\u2124', "\\mathbb{Z}"),
          Map.entry('\u2026', "\\ldots "),
          Map.entry('\u22ef', "\\ldots "),
          Map.entry('\u00b9', "^1"),
          Map.entry('\u00b2', "^2"),
          Map.entry('\u00b3', "^3"),
          Map.entry('\u2074', "^4"),
          Map.entry('\u00bd', "\\frac{1}{2}"),
          Map.entry('\u2153', "\\frac{1}{3}"),
          Map.entry('\u2154', "\\frac{2}{3}"),
          Map.entry('\u00bc', "\\frac{1}{4}"),
          Map.entry('\u00be', "\\frac{3}{4}"),
          Map.entry('\u230a', "\\lfloor "),
          Map.entry('\u230b', "\\rfloor "),
          Map.entry('\u2308', "\\lceil "),
          Map.entry('\u2309', "\\rceil "),
          Map.entry('\u27e8', "\\langle "),
          Map.entry('\u27e9', "\\rangle "),
          Map.entry('\u03b1', "\\alpha "),
          Map.entry('\u03b2', "\\beta "),
          Map.entry('\u03b3', "\\gamma "),
          Map.entry('\u03b8', "\\theta "),
          Map.entry('\u03bb', "\\lambda "),
          Map.entry('\u03c6', "\\phi "),
          Map.entry('\u03c9', "\\omega "),
          Map.entry('\u00a2', "\\text{ cents}"),
          Map.entry('\u20ac', "\\text{euros}"),
          Map.entry('\u00a3', "\\text{pounds}"),
          Map.entry('\u2019', "'"),
          Map.entry('\u201c', ""),
          Map.entry('\u201d', ""));

  private AnswerNormaliser() {}

  /** Returns the answer with one spelling for each sign, and without text around it. */
  static String normalise(String answer) {
    String text = thousands(signs(answer));
    return trimmed(text);
  }

  private static String signs(String answer) {
    StringBuilder text = new StringBuilder(answer.length() + 16);
    for (int i = 0; i < answer.length(); i++) {
      char c = answer.charAt(i);
      String sign = c < 128 ? null : SIGNS.get(c);
      if (sign != null) {
        text.append(sign);
      } else if (c >= '\uff01' && c <= '\uff5e') {
        text.append((char) (c - '\uff01' + '!'));
      } else if (isSpace(c)) {
        text.append(' ');
      } else if (!isInvisible(c) && c != THOUSANDS) {
        text.append(c);
      }
    }
    return text.toString();
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c);
  }

  private static boolean isInvisible(char c) {
    return switch (Character.getType(c)) {
      case Character.FORMAT, Character.CONTROL -> true;
      default -> false;
    };
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
    if (!text.isEmpty() && ".,;:".indexOf(text.charAt(text.length() - 1)) >= 0) {
      boolean dots = text.endsWith("..");
      boolean escaped = text.endsWith("\\,") || text.endsWith("\\;") || text.endsWith("\\:");
      return dots ? text : text.substring(0, text.length() - (escaped ? 2 : 1));
    }
    return text;
  }

  private static final String[][] PAIRS = {
    {"$$", "$$"},
    {"$", "$"},
    {"\\(", "\\)"},
    {"\\[", "\\]"},
    {"**", "**"},
    {"`", "`"}
  };
}
