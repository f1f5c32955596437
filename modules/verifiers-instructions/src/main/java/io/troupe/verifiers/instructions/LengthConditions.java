package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.strip;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.language.PunktSplitter;
import io.troupe.verifiers.language.RuleSplitter;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonPattern;
import java.util.List;
import java.util.function.Predicate;

/** Conditions on how many words, sentences and paragraphs an answer has. */
final class LengthConditions {
  private static final PythonPattern DIVIDER = PythonPattern.compile("\\s?\\*\\*\\*\\s?");

  private LengthConditions() {}

  static Predicate<String> words(InstructionArguments arguments) {
    double number = arguments.number("num_words");
    CountRelation relation = arguments.relation("relation");
    return answer -> relation.holds(PythonText.words(answer).size(), number);
  }

  static Predicate<String> sentences(InstructionArguments arguments) {
    double number = arguments.number("num_sentences");
    CountRelation relation = arguments.relation("relation");
    return answer -> relation.holds(PunktSplitter.english().sentences(answer).size(), number);
  }

  static Predicate<String> paragraphs(InstructionArguments arguments) {
    double number = arguments.number("num_paragraphs");
    return answer -> countFilled(DIVIDER.split(answer)) == number;
  }

  static boolean hasTwoDividedParagraphs(String answer) {
    return countFilled(DIVIDER.split(answer)) == 2;
  }

  static boolean hasTwoSpacedParagraphs(String answer) {
    return countFilled(PythonText.split(answer, "\n\n")) == 2;
  }

  /** The parts, less empty ones at the ends; -1 if one within is empty. */
  static int countFilled(List<String> parts) {
    int count = parts.size();
    for (int i = 0; i < parts.size(); i++) {
      if (isBlank(parts.get(i))) {
        if (i > 0 && i < parts.size() - 1) {
          return -1;
        }
        count--;
      }
    }
    return count;
  }

  /**
   * The n-th paragraph begins with a word. Empty paragraphs reduce the count and still have a
   * number, as in the reference.
   */
  static Predicate<String> firstWordOfParagraph(InstructionArguments arguments) {
    int number = arguments.ordinal("num_paragraphs");
    int nth = arguments.ordinal("nth_paragraph");
    String firstWord = lower(arguments.text("first_word"));
    if (nth > number) {
      throw new BadArgumentException("nth_paragraph is beyond num_paragraphs");
    }
    return answer -> {
      List<String> parts = PythonText.split(answer, "\n\n");
      long filled = parts.stream().filter(part -> !isBlank(part)).count();
      return filled == number
          && !isBlank(parts.get(nth - 1))
          && firstWord(parts.get(nth - 1)).equals(firstWord);
    };
  }

  /** The first word in lower case, less quotes before it and all from a punctuation mark on. */
  private static String firstWord(String paragraph) {
    String word = PythonText.split(paragraph).getFirst();
    word = PythonText.stripStart(word, c -> c == '\'');
    word = PythonText.stripStart(word, c -> c == '"');
    int end = 0;
    while (end < word.length() && ".,?!'\"".indexOf(word.charAt(end)) < 0) {
      end++;
    }
    return lower(word.substring(0, end));
  }

  /** Three paragraphs of the given numbers of sentences, words and marks each. */
  static Predicate<String> composition(InstructionArguments arguments) {
    int sentences = arguments.count("n_sent");
    int words = arguments.count("n_words");
    return answer -> {
      List<String> parts = DIVIDER.split(answer);
      return parts.size() == 3
          && parts.stream().noneMatch(PythonText::isBlank)
          && parts.stream().allMatch(part -> isComposed(part, sentences, words));
    };
  }

  private static boolean isComposed(String paragraph, int sentences, int words) {
    List<String> found = RuleSplitter.of(paragraph);
    return found.size() == sentences
        && found.stream().allMatch(sentence -> WordTokenizer.words(sentence).size() == words);
  }

  static Predicate<String> lowerCaseWordsAtMost(InstructionArguments arguments) {
    double number = arguments.number("N");
    PythonPattern word = PythonPattern.compile("\\b[a-z]+\\b");
    return answer -> word.countIn(answer) <= number;
  }

  static boolean hasUniqueTokens(String answer) {
    List<String> words = WordTokenizer.words(answer);
    return words.stream().distinct().count() == words.size();
  }

  static boolean isTwoResponses(String answer) {
    List<String> parts = PythonText.split(answer, "******");
    List<String> filled =
        parts.stream().filter(part -> !isBlank(part)).map(PythonText::strip).toList();
    return countFilled(parts) == 2 && !filled.getFirst().equals(filled.getLast());
  }

  /** A response that begins with the prompt, whatever its case. */
  static Predicate<String> repeatsPrompt(InstructionArguments arguments) {
    String prompt = lower(strip(arguments.text("prompt_to_repeat")));
    return answer -> lower(strip(answer)).startsWith(prompt);
  }
}
