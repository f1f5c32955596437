package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.split;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.verifiers.instructions.Instruction.exact;
import static io.troupe.verifiers.instructions.Instruction.plain;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.language.LanguageDetector;
import io.troupe.verifiers.python.PythonLiteralReader;
import io.troupe.verifiers.python.PythonPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The 25 functions of RLVR-IFeval. They share names of rules with IFEval, not the rules. */
final class RlvrInstructions {
  private static final PythonPattern PLACEHOLDER = PythonPattern.compile("\\[.*?\\]");
  private static final PythonPattern TITLE = PythonPattern.compile("<<.*?>>");
  private static final PythonPattern HIGHLIGHT = PythonPattern.compile("\\*.*?\\*");
  private static final PythonPattern CAPITAL_WORD = PythonPattern.compile("\\b[A-Z]+\\b");

  private RlvrInstructions() {}

  static List<Instruction> all() {
    return Stream.of(words(), lengths(), forms()).flatMap(List::stream).toList();
  }

  private static List<Instruction> words() {
    return List.of(
        exact(
            "verify_keywords",
            "Every keyword is found, whatever its case, also within words.",
            arguments -> {
              List<String> words = lowered(arguments.texts("keyword_list"));
              return answer -> words.stream().allMatch(lower(answer)::contains);
            }),
        exact(
            "verify_keyword_frequency",
            "Exactly N words equal the word, whatever its case.",
            arguments -> {
              String word = lower(arguments.text("word"));
              double number = arguments.number("N");
              return answer ->
                  PythonText.words(lower(answer)).stream().filter(word::equals).count() == number;
            }),
        exact(
            "validate_forbidden_words",
            "No forbidden word is found, whatever its case, not even within words.",
            arguments -> {
              List<String> words = lowered(arguments.texts("forbidden_words"));
              return answer -> words.stream().noneMatch(lower(answer)::contains);
            }),
        exact(
            "verify_letter_frequency",
            "The letter, with its case, is there exactly N times.",
            arguments -> {
              String letter = arguments.text("letter");
              double number = arguments.number("N");
              if (PythonText.length(letter) != 1) {
                throw new BadArgumentException("letter is not one character");
              }
              return answer -> PythonText.count(answer, letter) == number;
            }),
        exact(
            "validate_response_language",
            "The detected language is the one asked for; text without letters fails.",
            arguments -> {
              String language = arguments.text("language");
              return answer -> LanguageDetector.detect(answer).map(language::equals).orElse(false);
            }),
        exact(
            "validate_choice",
            "Equals, holds or is held by an option, case and outer white space aside.",
            arguments -> {
              List<String> options = lowered(arguments.texts("options"));
              return answer -> {
                String text = lower(strip(answer));
                return options.stream()
                    .map(PythonText::strip)
                    .anyMatch(option -> text.contains(option) || option.contains(text));
              };
            }));
  }

  private static List<String> lowered(List<String> texts) {
    return texts.stream().map(PythonText::lower).toList();
  }

  private static List<Instruction> lengths() {
    return List.of(
        exact(
            "verify_paragraph_count",
            "Exactly N paragraphs between * * *, none of them empty.",
            arguments -> {
              double number = arguments.number("N");
              return answer -> {
                List<String> parts = split(answer, "* * *");
                return parts.size() == number && parts.stream().noneMatch(PythonText::isBlank);
              };
            }),
        exact(
            "validate_word_constraint",
            "At least, at most or around (a tenth more or less) N words.",
            arguments -> {
              double number = arguments.number("N");
              double slack = Math.max(Math.rint(number * 0.1), 1);
              return quantified(arguments, number, slack, answer -> split(strip(answer)).size());
            }),
        exact(
            "verify_sentence_constraint",
            "At least, at most or around (one more or less) N sentences.",
            arguments ->
                quantified(arguments, arguments.number("N"), 1, RlvrInstructions::sentences)),
        exact(
            "validate_paragraphs",
            "N paragraphs between blank lines, the i-th beginning with the word.",
            arguments -> {
              double number = arguments.number("N");
              String first = arguments.text("first_word");
              int nth = arguments.ordinal("i");
              return answer -> {
                List<String> parts = split(answer, "\n\n");
                return parts.size() == number
                    && nth <= parts.size()
                    && strip(parts.get(nth - 1)).startsWith(first);
              };
            }),
        exact(
            "validate_frequency_capital_words",
            "At least, at most or exactly (around) N words of the letters A to Z.",
            arguments -> quantified(arguments, arguments.number("N"), 0, CAPITAL_WORD::countIn)),
        exact(
            "verify_bullet_points",
            "Exactly N lines begin with * or -.",
            arguments -> {
              double number = arguments.number("N");
              return answer ->
                  split(answer, "\n").stream()
                          .map(PythonText::strip)
                          .filter(line -> line.startsWith("*") || line.startsWith("-"))
                          .count()
                      == number;
            }),
        exact(
            "validate_placeholders",
            "At least N texts in square brackets, each on one line.",
            arguments -> atLeast(arguments, PLACEHOLDER)),
        exact(
            "validate_highlighted_sections",
            "At least N texts between asterisks, which may be empty.",
            arguments -> atLeast(arguments, HIGHLIGHT)),
        exact(
            "validate_sections",
            "The splitter cuts the text into N parts, an empty first one aside.",
            arguments -> {
              double number = arguments.number("N");
              String splitter = arguments.text("section_splitter");
              return answer -> {
                List<String> parts = new ArrayList<>(split(answer, splitter));
                return parts.size() - (isBlank(parts.getFirst()) ? 1 : 0) == number;
              };
            }));
  }

  private static Predicate<String> atLeast(InstructionArguments arguments, PythonPattern pattern) {
    double number = arguments.number("N");
    return answer -> pattern.countIn(answer) >= number;
  }

  /** A count of parts of an answer. */
  @FunctionalInterface
  private interface Count {
    int of(String answer);
  }

  private static Predicate<String> quantified(
      InstructionArguments arguments, double number, double slack, Count count) {
    String quantifier = arguments.text("quantifier");
    return switch (quantifier) {
      case "at least" -> answer -> count.of(answer) >= number;
      case "at most" -> answer -> count.of(answer) <= number;
      case "around" -> answer -> Math.abs(count.of(answer) - number) <= slack;
      default ->
          throw new BadArgumentException(
              "a quantifier is at least, at most or around, not " + quantifier);
    };
  }

  /**
   * One more than the white space characters behind a period or question mark, but for those behind
   * abbreviations such as {@code e.g.} and {@code Mr.}.
   */
  private static int sentences(String answer) {
    int[] points = answer.codePoints().toArray();
    int count = 1;
    for (int i = 1; i < points.length; i++) {
      boolean dotted =
          i >= 4
              && PythonText.isWord(points[i - 4])
              && points[i - 3] == '.'
              && PythonText.isWord(points[i - 2])
              && points[i - 1] != '\n';
      boolean titled =
          i >= 3
              && points[i - 3] >= 'A'
              && points[i - 3] <= 'Z'
              && points[i - 2] >= 'a'
              && points[i - 2] <= 'z'
              && points[i - 1] == '.';
      boolean ended = points[i - 1] == '.' || points[i - 1] == '?';
      count += PythonText.isSpace(points[i]) && ended && !dotted && !titled ? 1 : 0;
    }
    return count;
  }

  private static List<Instruction> forms() {
    return List.of(
        exact(
            "verify_postscript",
            "The marker is found, with something behind it.",
            arguments -> {
              String marker = arguments.text("postscript_marker");
              return answer ->
                  answer.contains(marker)
                      && !isBlank(answer.substring(answer.indexOf(marker) + marker.length()));
            }),
        plain("validate_title", "A text in << and >> on one line.", TITLE::isFoundIn),
        plain(
            "validate_json_format",
            "The whole text is JSON to Python's json.loads.",
            answer -> PythonLiteralReader.json(answer).isPresent()),
        exact(
            "validate_repeat_prompt",
            "Begins with the prompt, with its case.",
            arguments -> {
              String prompt = arguments.text("original_prompt");
              return answer -> answer.startsWith(prompt);
            }),
        plain(
            "validate_two_responses",
            "One ****** with different texts on its sides.",
            answer -> {
              List<String> parts = split(answer, "******");
              return parts.size() == 2 && !strip(parts.get(0)).equals(strip(parts.get(1)));
            }),
        plain(
            "validate_uppercase",
            "Equals its own upper case.",
            answer -> answer.equals(PythonText.upper(answer))),
        plain(
            "validate_lowercase",
            "Equals its own lower case.",
            answer -> answer.equals(lower(answer))),
        exact(
            "validate_end",
            "Ends with the phrase, with its case.",
            arguments -> {
              String phrase = arguments.text("end_phrase");
              return answer -> answer.endsWith(phrase);
            }),
        plain(
            "validate_quotation",
            "Begins and ends with a double quote.",
            answer -> answer.startsWith("\"") && answer.endsWith("\"")),
        plain("validate_no_commas", "No comma.", answer -> !answer.contains(",")));
  }
}
