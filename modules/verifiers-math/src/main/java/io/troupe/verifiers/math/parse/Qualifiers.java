package io.troupe.verifiers.math.parse;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Words behind an answer that say for what it holds, where it holds for everything: {@code f(x)=x
 * \text{ for all real } x}. An integer is not of these, since a family of answers depends on it.
 */
final class Qualifiers {
  private static final Pattern BEGINS =
      Pattern.compile("(?<![a-zA-Z])(?:for|where|with)(?![a-zA-Z])|\\\\forall(?![a-zA-Z])");

  private static final Pattern OPENING =
      Pattern.compile("(?:\\\\(?:text|mbox|textrm|mathrm) ?\\{|\\\\q?quad|\\\\[,; ]|[\\s~$,(])*$");

  private static final Pattern MARKUP =
      Pattern.compile("\\\\(?:text|mbox|textrm|mathrm|q?quad)|\\\\[,; ()]|[{}$~(),.]");

  private static final Pattern EVERYTHING =
      Pattern.compile(
          "(?:(?:for )?(?:all|any|every|each|some)|forall)(?: arbitrary| real)*"
              + "(?: numbers?| constants?| values? of)?(?: [a-zA-Z])?(?: in R| is real)?"
              + "|(?:where|with|for) (?:[a-zA-Z] )?(?:is |being )?(?:an? |any |some )?"
              + "(?:arbitrary |real )*(?:constant|real number|real|number)(?: [a-zA-Z])?");

  private static final Pattern ONLY =
      Pattern.compile(
          "^\\s*(?:\\\\text ?\\{ ?[oO]nly[ ~]?\\}|[oO]nly )[ ~]*|[ ~]*(?:\\\\text ?\\{[ ~]*only ?\\}| only)[ .]*$");

  private Qualifiers() {}

  /** The answer without such words at its end. */
  static String removed(String written) {
    String text = written.contains("nly") ? ONLY.matcher(written).replaceAll("") : written;
    if (!text.contains("for") && !text.contains("where") && !text.contains("with")) {
      return text;
    }
    Matcher begin = BEGINS.matcher(text);
    while (begin.find()) {
      String before = OPENING.matcher(text.substring(0, begin.start())).replaceFirst("");
      if (!before.isBlank() && isEverything(text.substring(begin.start()))) {
        return before;
      }
    }
    return text;
  }

  private static boolean isEverything(String tail) {
    String plain =
        MARKUP
            .matcher(
                tail.replace("\\forall", "forall ")
                    .replace("\\mathbb", " ")
                    .replace("\\in", " in "))
            .replaceAll(" ")
            .replaceAll("\\s+", " ")
            .strip();
    return EVERYTHING.matcher(plain).matches();
  }
}
