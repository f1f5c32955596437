package io.troupe.verifiers.language;

import io.troupe.base.text.PythonText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Splits text into words and punctuation as NLTK 3.8's {@code word_tokenize} does: sentences first,
 * then the rules of the Penn Treebank with NLTK's additions. Clitics come off their words ({@code
 * do n't}), straight double quotes become {@code ``} and {@code ''}.
 *
 * <p>Each rule is a substitution that matches a bounded piece of text, so that time is linear.
 */
public final class WordTokenizer {
  private static final String WORD = "[\\p{L}\\p{N}_]";
  private static final String EDGE = "(?:(?<=" + WORD + ")(?!" + WORD + "))";
  private static final String START = "(?:(?<!" + WORD + ")(?=" + WORD + "))";

  private record Rule(Pattern pattern, String replacement) {
    private static Rule of(String pattern, String replacement) {
      int flags = Pattern.UNIX_LINES | Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;
      return new Rule(Pattern.compile(pattern, flags), replacement);
    }

    private String apply(String text) {
      return pattern.matcher(text).replaceAll(replacement);
    }
  }

  private static final List<Rule> OPENING =
      List.of(
          Rule.of("([«“‘„]|`+)", " $1 "),
          Rule.of("\\A\"", "``"),
          Rule.of("(``)", " $1 "),
          Rule.of("([ (\\[{<])(\"|'')", "$1 `` "),
          Rule.of("(')(?![mtsdn])(" + WORD + ")(?!" + WORD + ")", "$1 $2"));

  private static final List<Rule> MIDDLE =
      List.of(
          Rule.of("([:,])(\\P{Nd})", " $1 $2"),
          Rule.of("([:,])(?=\\n?\\z)", " $1 "),
          Rule.of("\\.\\.+", " $0 "),
          Rule.of("[;@#$%&]", " $0 "),
          Rule.of("[?!]", " $0 "),
          Rule.of("([^'])' ", "$1 ' "),
          Rule.of("[*]", " $0 "),
          Rule.of("[\\]\\[(){}<>]", " $0 "),
          Rule.of("--", " -- "));

  private static final List<Rule> CLOSING =
      List.of(
          Rule.of("([»”’])", " $1 "),
          Rule.of("''", " '' "),
          Rule.of("\"", " '' "),
          new Rule(Pattern.compile("([^' ])('[sS]|'[mM]|'[dD]|') "), "$1 $2 "),
          new Rule(Pattern.compile("([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), "$1 $2 "),
          Rule.of(START + "(can)(not)" + EDGE, " $1 $2 "),
          Rule.of(START + "(d)('ye)" + EDGE, " $1 $2 "),
          Rule.of(START + "(gim)(me)" + EDGE, " $1 $2 "),
          Rule.of(START + "(gon)(na)" + EDGE, " $1 $2 "),
          Rule.of(START + "(got)(ta)" + EDGE, " $1 $2 "),
          Rule.of(START + "(lem)(me)" + EDGE, " $1 $2 "),
          Rule.of(START + "(more)('n)" + EDGE, " $1 $2 "),
          Rule.of(START + "(wan)(na)(?=[\\s\\p{Z}\\x1c-\\x1f\\x85])", " $1 $2 "),
          Rule.of(" ('t)(is)" + EDGE, " $1 $2 "),
          Rule.of(" ('t)(was)" + EDGE, " $1 $2 "));

  private WordTokenizer() {}

  /** {@code nltk.word_tokenize}. */
  public static List<String> words(String text) {
    List<String> words = new ArrayList<>();
    for (String sentence : PunktSplitter.english().sentences(text)) {
      words.addAll(wordsOfSentence(sentence));
    }
    return words;
  }

  /** {@code NLTKWordTokenizer().tokenize}: only a period at the very end is split off. */
  static List<String> wordsOfSentence(String sentence) {
    String text = sentence;
    for (Rule rule : OPENING) {
      text = rule.apply(text);
    }
    text = splitFinalPeriod(text);
    for (Rule rule : MIDDLE) {
      text = rule.apply(text);
    }
    text = " " + text + " ";
    for (Rule rule : CLOSING) {
      text = rule.apply(text);
    }
    return PythonText.split(text);
  }

  /**
   * {@code ([^\.])(\.)([\]\)}>"'»”’ ]*)\s*$}, read from the end: as an expression it takes
   * quadratic time over a run of spaces.
   */
  private static String splitFinalPeriod(String text) {
    int end = PythonText.stripEnd(text).length();
    int period = end - 1;
    while (period >= 0 && "])}>\"'»”’ ".indexOf(text.charAt(period)) >= 0) {
      period--;
    }
    if (period < 1 || text.charAt(period) != '.' || text.charAt(period - 1) == '.') {
      return text;
    }
    int closers = period + 1;
    while (closers < text.length() && "])}>\"'»”’ ".indexOf(text.charAt(closers)) >= 0) {
      closers++;
    }
    return text.substring(0, period) + " . " + text.substring(period + 1, closers) + " ";
  }
}
