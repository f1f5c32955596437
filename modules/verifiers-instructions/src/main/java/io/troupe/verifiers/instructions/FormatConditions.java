package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.base.text.PythonText.withoutPrefix;
import static io.troupe.base.text.PythonText.withoutSuffix;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.language.LanguageDetector;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonLiteralReader;
import io.troupe.verifiers.python.PythonPattern;
import io.troupe.verifiers.python.PythonPattern.Flag;
import java.util.List;
import java.util.function.Predicate;

/** Conditions on the form of an answer: marks, lists, case, language. */
final class FormatConditions {
  private static final PythonPattern PLACEHOLDER = PythonPattern.compile("\\[.*?\\]");
  private static final PythonPattern STAR_BULLET =
      PythonPattern.compile("^\\s*\\*[^\\*].*$", Flag.MULTILINE);
  private static final PythonPattern HYPHEN_BULLET =
      PythonPattern.compile("^\\s*-.*$", Flag.MULTILINE);
  private static final PythonPattern HIGHLIGHT = PythonPattern.compile("\\*[^\\n\\*]*\\*");
  private static final PythonPattern BOLD = PythonPattern.compile("\\*\\*[^\\n\\*]*\\*\\*");
  private static final PythonPattern TITLE = PythonPattern.compile("<<[^\\n]+>>");

  private FormatConditions() {}

  static Predicate<String> placeholders(InstructionArguments arguments) {
    double number = arguments.number("num_placeholders");
    return answer -> PLACEHOLDER.countIn(answer) >= number;
  }

  static Predicate<String> bullets(InstructionArguments arguments) {
    double number = arguments.number("num_bullets");
    return answer -> STAR_BULLET.countIn(answer) + HYPHEN_BULLET.countIn(answer) == number;
  }

  static boolean isConstrained(String answer) {
    return List.of("My answer is yes.", "My answer is no.", "My answer is maybe.").stream()
        .anyMatch(answer::contains);
  }

  /** Single and double stars are counted separately, so that bold text may count twice. */
  static Predicate<String> highlights(InstructionArguments arguments) {
    double number = arguments.number("num_highlights");
    return answer -> {
      long single =
          HIGHLIGHT.findAll(answer).stream()
              .filter(found -> !isBlank(PythonText.strip(found, c -> c == '*')))
              .count();
      long bold =
          BOLD.findAll(answer).stream()
              .filter(found -> !isBlank(withoutSuffix(withoutPrefix(found, "**"), "**")))
              .count();
      return single + bold >= number;
    };
  }

  /** {@code re.split} also gives what groups capture, so that a group in the name counts twice. */
  static Predicate<String> sections(InstructionArguments arguments) {
    PythonPattern heading =
        InstructionArguments.pattern("\\s?" + arguments.word("section_spliter") + "\\s?\\d+\\s?");
    double number = arguments.number("num_sections");
    return answer -> heading.countIn(answer) * (1L + heading.groups()) >= number;
  }

  static boolean isJson(String answer) {
    String json = strip(answer);
    for (String fence : List.of("```json", "```Json", "```JSON", "```")) {
      json = withoutPrefix(json, fence);
    }
    return PythonLiteralReader.json(strip(withoutSuffix(json, "```"))).isPresent();
  }

  static boolean hasTitle(String answer) {
    return TITLE.findAll(answer).stream()
        .map(title -> PythonText.stripStart(title, c -> c == '<'))
        .map(title -> PythonText.stripEnd(title, c -> c == '>'))
        .anyMatch(title -> !isBlank(title));
  }

  static Predicate<String> postscript(InstructionArguments arguments) {
    String marker = arguments.word("postscript_marker");
    String pattern =
        switch (marker) {
          case "P.P.S" -> "p\\.\\s?p\\.\\s?s";
          case "P.S." -> "p\\.\\s?s\\.";
          default -> lower(marker);
        };
    PythonPattern compiled = InstructionArguments.pattern(pattern, Flag.IGNORE_CASE);
    return answer -> compiled.isFoundIn(lower(answer));
  }

  static Predicate<String> end(InstructionArguments arguments) {
    String phrase = lower(arguments.word("end_phrase"));
    return answer -> lower(PythonText.strip(strip(answer), c -> c == '"')).endsWith(phrase);
  }

  static boolean isQuoted(String answer) {
    String text = strip(answer);
    return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"");
  }

  static Predicate<String> language(InstructionArguments arguments) {
    String language = arguments.text("language");
    if (!LanguageDetector.codes().contains(language)) {
      throw new BadArgumentException("a language that is not detected: " + language);
    }
    return answer -> isIn(language, answer);
  }

  static boolean isEnglishCapitals(String answer) {
    return PythonText.isUpper(answer) && isIn("en", answer);
  }

  static boolean isEnglishLowerCase(String answer) {
    return PythonText.isLower(answer) && isIn("en", answer);
  }

  /** Text without features of any language passes, as in the reference. */
  private static boolean isIn(String language, String answer) {
    return LanguageDetector.detect(answer).map(language::equals).orElse(true);
  }

  static Predicate<String> capitalWords(InstructionArguments arguments) {
    double number = arguments.number("capital_frequency");
    CountRelation relation = arguments.relation("capital_relation");
    return answer ->
        relation.holds(
            WordTokenizer.words(answer).stream().filter(PythonText::isUpper).count(), number);
  }
}
