package io.troupe.verifiers.code;

import java.util.List;

/** The rule by which a program's output equals the expected output. */
public enum OutputComparison {
  /** Character by character, except for line feeds at the end. */
  EXACT {
    @Override
    boolean agree(String actual, String wanted) {
      return withoutLastFeeds(actual).equals(withoutLastFeeds(wanted));
    }
  },
  /**
   * Line by line, without white space at both ends of each line, and without blank lines at the
   * end.
   */
  LINES {
    @Override
    boolean agree(String actual, String wanted) {
      return lines(actual).equals(lines(wanted));
    }
  },
  /**
   * Word by word: white space of any kind and amount only separates words. The usual rule for APPS.
   */
  TOKENS {
    @Override
    boolean agree(String actual, String wanted) {
      return tokens(actual).equals(tokens(wanted));
    }
  },
  /** Word by word, where two numbers agree within 1e-6, absolutely or relatively. */
  NUMBERS {
    @Override
    boolean agree(String actual, String wanted) {
      List<String> ours = tokens(actual);
      List<String> theirs = tokens(wanted);
      if (ours.size() != theirs.size()) {
        return false;
      }
      for (int i = 0; i < ours.size(); i++) {
        if (!ours.get(i).equals(theirs.get(i)) && !near(ours.get(i), theirs.get(i))) {
          return false;
        }
      }
      return true;
    }
  };

  private static final double TOLERANCE = 1e-6;

  /** Longest text that is parsed as a number: parsing takes more than linear time. */
  private static final int MOST_DIGITS = 400;

  abstract boolean agree(String actual, String wanted);

  private static String withoutLastFeeds(String text) {
    int end = text.length();
    while (end > 0 && (text.charAt(end - 1) == '\n' || text.charAt(end - 1) == '\r')) {
      end--;
    }
    return text.substring(0, end).replace("\r\n", "\n");
  }

  private static List<String> lines(String text) {
    return text.stripTrailing().lines().map(String::strip).toList();
  }

  private static List<String> tokens(String text) {
    return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+", -1));
  }

  /**
   * Whether two words are numbers that agree. Only decimal numerals count: Java would also parse
   * hexadecimal numerals, and suffixes.
   */
  private static boolean near(String actual, String wanted) {
    if (!isNumeral(actual) || !isNumeral(wanted)) {
      return false;
    }
    double a = Double.parseDouble(actual);
    double b = Double.parseDouble(wanted);
    return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.max(Math.abs(a), Math.abs(b)));
  }

  private static boolean isNumeral(String text) {
    return text.length() <= MOST_DIGITS
        && text.matches("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?");
  }
}
