package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.AnswerTokenizer;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The place in a completion where an answer is read. Each takes time linear in the text, and scans
 * by hand: a regular expression's backtracking is no match for a policy that is rewarded for what
 * it finds.
 */
public enum AnswerAnchor {
  /** The last {@code \boxed{…}} or {@code \fbox{…}}; none if that one is not closed. */
  BOX {
    @Override
    List<String> find(String text) {
      List<String> boxes = BoxedAnswers.all(text);
      return boxes.isEmpty() ? List.of() : List.of(boxes.getLast());
    }

    @Override
    int position(String text) {
      return BoxedAnswers.lastIn(text);
    }
  },
  /** The rest of the line behind the last {@code ####}. */
  HASHES {
    @Override
    List<String> find(String text) {
      int at = text.lastIndexOf("####");
      if (at < 0) {
        return List.of();
      }
      return some(line(text, at + 4));
    }

    @Override
    Optional<String> emphasised(String text) {
      int at = position(text);
      return at < 0 ? Optional.empty() : Sentence.emphasised(text, at + 4);
    }

    @Override
    int position(String text) {
      return text.lastIndexOf("####");
    }
  },
  /** The end of the last sentence with "answer is", in any case: "So the final answer is $5$." */
  ANSWER_IS {
    @Override
    List<String> find(String text) {
      int at = lastIgnoringCase(text, "answer is");
      return at < 0 ? List.of() : some(Sentence.read(text, at + "answer is".length()));
    }

    @Override
    Optional<String> emphasised(String text) {
      int at = position(text);
      return at < 0 ? Optional.empty() : Sentence.emphasised(text, at + "answer is".length());
    }

    @Override
    int position(String text) {
      return lastIgnoringCase(text, "answer is");
    }
  },
  /** The rest of the line behind the last "Answer:" in the last 300 characters (DAPO). */
  ANSWER_COLON {
    @Override
    List<String> find(String text) {
      String end = tail(text, 300);
      int at = lastAnswerColon(end);
      return at < 0 ? List.of() : some(line(end, end.indexOf(':', at) + 1));
    }
  },
  /** The text behind the last "Answer:", in any case: "**Answer:** $5$." */
  ANSWER_SAYS {
    @Override
    List<String> find(String text) {
      int at = position(text);
      return at < 0 ? List.of() : some(Sentence.read(text, colon(text, at) + 1));
    }

    @Override
    Optional<String> emphasised(String text) {
      int at = position(text);
      return at < 0 ? Optional.empty() : Sentence.emphasised(text, colon(text, at) + 1);
    }

    @Override
    int position(String text) {
      return lastAnswerSign(text, ":=", "* ");
    }
  },
  /**
   * The first sentence "Final Answer: The final answer is X. I hope it is correct."; its end may be
   * cut off (Minerva, lm-evaluation-harness).
   */
  MINERVA {
    @Override
    List<String> find(String text) {
      String start = "Final Answer: The final answer is";
      String hope = "I hope it is correct.";
      int at = text.indexOf(start);
      if (at < 0) {
        return List.of();
      }
      int from = at + start.length();
      int end = text.indexOf(hope, from);
      return some(cut(text, from, end < 0 ? text.length() : end));
    }
  },
  /** The last box and Minerva's sentence, of which either may be right (open-instruct). */
  BOX_OR_MINERVA {
    @Override
    List<String> find(String text) {
      List<String> found = new ArrayList<>(BOX.find(text));
      found.addAll(MINERVA.find(text));
      return found;
    }
  },
  /** The text between the last two dollar signs. */
  DOLLARS {
    @Override
    List<String> find(String text) {
      int close = text.lastIndexOf('$');
      int open = close > 0 ? text.lastIndexOf('$', close - 1) : -1;
      return open < 0 ? List.of() : some(cut(text, open + 1, close));
    }
  },
  /** The last run of digits with separators, its sign before it. Rewards text without an answer. */
  LAST_NUMBER {
    @Override
    List<String> find(String text) {
      int last = text.length() - 1;
      while (last >= 0 && !AnswerTokenizer.isDigit(text.charAt(last))) {
        last--;
      }
      int first = last;
      while (first > 0 && isNumeric(text.charAt(first - 1))) {
        first--;
      }
      while (first < last && text.charAt(first) == ',') {
        first++;
      }
      boolean minus = first > 0 && text.charAt(first - 1) == '-';
      return last < 0 ? List.of() : some(cut(text, minus ? first - 1 : first, last + 1));
    }
  },
  /** The whole text. */
  WHOLE_TEXT {
    @Override
    List<String> find(String text) {
      return some(cut(text, 0, text.length()));
    }
  },
  /**
   * What is in the last {@code <answer>…</answer>}: the last box in it, else all of it. None if it
   * is not closed.
   */
  ANSWER_TAG {
    @Override
    List<String> find(String text) {
      String inside = inTag(text);
      if (BoxedAnswers.isIn(inside)) {
        return BOX.find(inside);
      }
      List<String> named = new ArrayList<>(HASHES.find(inside));
      named.addAll(ANSWER_IS.find(inside));
      return named.isEmpty() ? some(cut(inside, 0, inside.length())) : List.of(named.getFirst());
    }

    @Override
    int position(String text) {
      return text.lastIndexOf(TAG_START);
    }
  };

  private static final String TAG_START = "<answer>";
  private static final String TAG_END = "</answer>";

  /**
   * Returns the answers, usually one or none, each with at most one more character than an answer
   * may have.
   */
  abstract List<String> find(String text);

  /**
   * Returns the part of the answer that Markdown emphasises, for evaluations; empty if that is not
   * one answer.
   */
  Optional<String> emphasised(String text) {
    return Optional.empty();
  }

  /**
   * Returns the last position of the anchor in the text; -1 if it is not there, or has no position.
   */
  int position(String text) {
    return -1;
  }

  /** The anchor of a name in lower case with {@code -} for {@code _}. */
  public static AnswerAnchor named(String name) {
    for (AnswerAnchor anchor : values()) {
      if (anchor.toString().equals(name)) {
        return anchor;
      }
    }
    throw new IllegalArgumentException(
        "%s is no anchor of the math verifier; name one of %s".formatted(name, List.of(values())));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The content of the last {@code <answer>…</answer>}; blank if there is none. */
  static String inTag(String text) {
    int close = text.lastIndexOf(TAG_END);
    int open = close < 0 ? -1 : text.lastIndexOf(TAG_START, close);
    return open < 0 ? "" : text.substring(open + TAG_START.length(), close);
  }

  /** The text that has an answer in tags. */
  static String tagged(String answer) {
    return TAG_START + answer + TAG_END;
  }

  private static boolean isNumeric(char c) {
    return AnswerTokenizer.isDigit(c) || c == '.' || c == ',';
  }

  private static List<String> some(String found) {
    return found.isBlank() ? List.of() : List.of(found.strip());
  }

  private static String line(String text, int from) {
    int start = from;
    while (start < text.length() && text.charAt(start) == '#') {
      start++;
    }
    int end = text.indexOf('\n', start);
    return cut(text, start, end < 0 ? text.length() : end);
  }

  static String cut(String text, int from, int to) {
    int start = from;
    while (start < to && Character.isWhitespace(text.charAt(start))) {
      start++;
    }
    int end = to;
    while (end > start && Character.isWhitespace(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(start, Math.min(end, start + ParsedAnswer.MOST_CHARACTERS + 1));
  }

  private static String tail(String text, int characters) {
    return text.substring(Math.max(0, text.length() - characters));
  }

  private static int lastIgnoringCase(String text, String wanted) {
    return lastIgnoringCase(text, wanted, text.length());
  }

  /**
   * Returns the beginning of the last match that ends at {@code end} or before; -1 if there is
   * none.
   */
  private static int lastIgnoringCase(String text, String wanted, int end) {
    char lower = wanted.charAt(0);
    char upper = wanted.toUpperCase(Locale.ROOT).charAt(0);
    for (int i = end - wanted.length(); i >= 0; i--) {
      char c = text.charAt(i);
      if ((c == lower || c == upper) && text.regionMatches(true, i, wanted, 0, wanted.length())) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the beginning of the last "answer" with a colon behind it. */
  private static int lastAnswerColon(String text) {
    return lastAnswerSign(text, ":", " ");
  }

  private static int colon(String text, int at) {
    int sign = at;
    while (text.charAt(sign) != ':' && text.charAt(sign) != '=') {
      sign++;
    }
    return sign;
  }

  /** Returns the beginning of the last "answer" with one of the signs behind it. */
  private static int lastAnswerSign(String text, String signs, String between) {
    int at = lastIgnoringCase(text, "answer");
    while (at >= 0) {
      int sign = at + "answer".length();
      while (sign < text.length() && between.indexOf(text.charAt(sign)) >= 0) {
        sign++;
      }
      if (sign < text.length() && signs.indexOf(text.charAt(sign)) >= 0) {
        return at;
      }
      at = lastIgnoringCase(text, "answer", at);
    }
    return -1;
  }

  /** Whether more answers follow at a place. */
  static boolean continues(String text, int at) {
    String next = text.substring(at, Math.min(text.length(), at + 12)).strip();
    if (next.startsWith("or ") || next.startsWith("and ")) {
      return true;
    }
    String listed = next.startsWith(",") ? next.substring(1).strip() : "";
    return !listed.isEmpty()
        && (!Character.isLetter(listed.charAt(0))
            || listed.startsWith("or ")
            || listed.startsWith("and "));
  }

  /** Reads what a sentence calls its answer. */
  private static final class Sentence {
    private static final String[][] MATHS = {
      {"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}
    };

    private Sentence() {}

    static String read(String text, int from) {
      String rest =
          withoutLead(
              cut(text, from, Math.min(text.length(), from + 2 * ParsedAnswer.MOST_CHARACTERS)));
      return maths(rest).orElseGet(() -> withoutAside(withoutStars(rest.substring(0, end(rest)))));
    }

    /** Drops what is said about an answer behind it: "24, which is even", "24 (twenty-four)". */
    private static String withoutAside(String text) {
      int clause = -1;
      for (String word : new String[] {", which ", ", since ", ", because ", ", as "}) {
        int at = text.indexOf(word);
        clause = at > 0 && (clause < 0 || at < clause) ? at : clause;
      }
      String rest = clause > 0 ? text.substring(0, clause) : text;
      int open = rest.endsWith(")") ? rest.lastIndexOf(" (") : -1;
      boolean words =
          open > 0
              && rest.substring(open + 2, rest.length() - 1)
                  .matches("(?!.*\\b(?:or|not|and|wrong|maybe)\\b)[a-z][a-z -]*[a-z]");
      return words ? rest.substring(0, open) : rest;
    }

    static Optional<String> emphasised(String text, int from) {
      return MarkdownEmphasis.read(text, from)
          .map(inner -> maths(inner).orElseGet(() -> withoutStars(inner)).strip())
          .filter(answer -> !answer.isEmpty());
    }

    private static String withoutLead(String text) {
      int at = 0;
      while (at < text.length() && ":*= \t\n".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
      return text.substring(at);
    }

    private static String withoutStars(String text) {
      int end = text.length();
      while (end > 0 && "*. ".indexOf(text.charAt(end - 1)) >= 0) {
        end--;
      }
      return text.substring(0, end);
    }

    /** Mathematics at the start, unless more answers follow it: "$3$ or $4$". */
    private static Optional<String> maths(String text) {
      for (String[] pair : MATHS) {
        if (text.startsWith(pair[0])) {
          int close = text.indexOf(pair[1], pair[0].length());
          if (close < 0) {
            return Optional.empty();
          }
          int after = close + pair[1].length();
          return continues(text, after)
              ? Optional.empty()
              : Optional.of(text.substring(pair[0].length(), close));
        }
      }
      return Optional.empty();
    }

    /** The end of the line or of the sentence; a point between digits ends neither. */
    private static int end(String text) {
      boolean inMaths = false;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        inMaths ^= c == '$';
        boolean stops = i + 1 == text.length() || Character.isWhitespace(text.charAt(i + 1));
        if ((c == '\n' && !inMaths) || (c == '.' && stops && !inMaths)) {
          return i;
        }
      }
      return text.length();
    }
  }
}
