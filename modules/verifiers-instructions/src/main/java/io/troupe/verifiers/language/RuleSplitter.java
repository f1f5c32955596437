package io.troupe.verifiers.language;

import io.troupe.base.text.PythonText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Splits text into sentences by the fixed rules of the multi-constraint training checkers: periods
 * of titles, company suffixes, initials, acronyms, web addresses, decimals and ellipses are masked,
 * then every period, question and exclamation mark ends a sentence.
 *
 * <p>Quirks that are kept: a closing double quote moves before its mark; the text {@code <prd>} and
 * {@code <stop>} in an answer acts as the mask does; an empty sentence between two marks counts.
 */
public final class RuleSplitter {
  private static final String SPACE =
      "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
  private static final String LETTER = "([A-Za-z])";
  private static final String SUFFIX = " (Inc|Ltd|Jr|Sr|Co)[.]";
  private static final String STARTER =
      "(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He@|She@|It@|They@|Their@|Our@|We@|But@|However@|That@|This@|Wherever)"
          .replace("@", SPACE);

  private record Rule(Pattern pattern, String replacement) {
    private static Rule of(String pattern, String replacement) {
      return new Rule(Pattern.compile(pattern), replacement);
    }

    private String apply(String text) {
      return pattern.matcher(text).replaceAll(replacement);
    }
  }

  private static final List<Rule> BEFORE_ELLIPSES =
      List.of(
          Rule.of("(Mr|St|Mrs|Ms|Dr)[.]", "$1<prd>"),
          Rule.of("[.](com|net|org|io|gov|edu|me)", "<prd>$1"),
          Rule.of("([0-9])[.]([0-9])", "$1<prd>$2"));

  private static final Pattern ELLIPSIS = Pattern.compile("\\.{2,}");

  private static final List<Rule> BEHIND_ELLIPSES =
      List.of(
          Rule.of("Ph\\.D\\.", "Ph<prd>D<prd>"),
          Rule.of(SPACE + LETTER + "[.] ", " $1<prd> "),
          Rule.of("([A-Z][.][A-Z][.](?:[A-Z][.])?) " + STARTER, "$1<stop> $2"),
          Rule.of(LETTER + "[.]" + LETTER + "[.]" + LETTER + "[.]", "$1<prd>$2<prd>$3<prd>"),
          Rule.of(LETTER + "[.]" + LETTER + "[.]", "$1<prd>$2<prd>"),
          Rule.of(SUFFIX + " " + STARTER, " $1<stop> $2"),
          Rule.of(SUFFIX, " $1<prd>"),
          Rule.of(" " + LETTER + "[.]", " $1<prd>"));

  private RuleSplitter() {}

  /** The sentences, stripped; the last one is left out if it is empty. */
  public static List<String> of(String answer) {
    String text = (" " + answer + "  ").replace('\n', ' ');
    for (Rule rule : BEFORE_ELLIPSES) {
      text = rule.apply(text);
    }
    text = ELLIPSIS.matcher(text).replaceAll(RuleSplitter::maskEllipsis);
    for (Rule rule : BEHIND_ELLIPSES) {
      text = rule.apply(text);
    }
    text =
        text.replace(".”", "”.")
            .replace(".\"", "\".")
            .replace("!\"", "\"!")
            .replace("?\"", "\"?")
            .replace(".", ".<stop>")
            .replace("?", "?<stop>")
            .replace("!", "!<stop>")
            .replace("<prd>", ".");
    List<String> sentences =
        new ArrayList<>(PythonText.split(text, "<stop>").stream().map(PythonText::strip).toList());
    if (sentences.getLast().isEmpty()) {
      sentences.removeLast();
    }
    return List.copyOf(sentences);
  }

  private static String maskEllipsis(MatchResult match) {
    return "<prd>".repeat(match.group().length()) + "<stop>";
  }
}
