package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.strip;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.language.RuleSplitter;
import io.troupe.verifiers.language.WordTokenizer;
import java.util.List;
import java.util.function.Predicate;

/** Conditions of the training set on words in their places, in sentences cut by fixed rules. */
final class SentenceConditions {
  private SentenceConditions() {}

  static Predicate<String> firstWordOfSentences(InstructionArguments arguments) {
    String word = lower(arguments.word("first_word"));
    return answer ->
        RuleSplitter.of(answer).stream()
            .allMatch(
                sentence ->
                    !isBlank(sentence)
                        && lower(PythonText.split(sentence).getFirst()).equals(word));
  }

  static Predicate<String> lastWordOfSentences(InstructionArguments arguments) {
    String word = lower(arguments.word("last_word"));
    return answer ->
        RuleSplitter.of(answer).stream()
            .allMatch(sentence -> !isBlank(sentence) && lastWord(sentence).equals(word));
  }

  static Predicate<String> firstWord(InstructionArguments arguments) {
    String word = lower(arguments.word("first_word"));
    return answer -> lower(PythonText.split(answer).getFirst()).equals(word);
  }

  static Predicate<String> lastWord(InstructionArguments arguments) {
    String word = lower(arguments.word("last_word"));
    return answer -> lastWord(answer).equals(word);
  }

  /** The last word in lower case, less every character that is no word character. */
  private static String lastWord(String text) {
    StringBuilder kept = new StringBuilder();
    PythonText.split(text)
        .getLast()
        .codePoints()
        .filter(PythonText::isWord)
        .forEach(kept::appendCodePoint);
    return lower(kept.toString());
  }

  /** The n-th sentence's m-th token is the keyword, case included. */
  static Predicate<String> keywordPosition(InstructionArguments arguments) {
    String keyword = arguments.word("keyword");
    int nth = arguments.ordinal("n");
    int mth = arguments.ordinal("m");
    return answer -> {
      List<String> sentences = RuleSplitter.of(answer);
      if (sentences.size() < nth) {
        return false;
      }
      List<String> words = WordTokenizer.words(sentences.get(nth - 1));
      return words.size() >= mth && words.get(mth - 1).equals(keyword);
    };
  }

  static boolean startsAndEndsAlike(String answer) {
    List<String> words = WordTokenizer.words(answer);
    return words.size() > 1 && lower(words.getFirst()).equals(lower(words.getLast()));
  }

  /** Piece by piece, the text between hyphens is a sentence of the text without hyphens. */
  static boolean isJoinedByHyphens(String answer) {
    List<String> sentences = RuleSplitter.of(answer.replace('-', ' '));
    List<String> parts = PythonText.split(answer, "-");
    for (int i = 0; i < Math.min(parts.size(), sentences.size()); i++) {
      String part = parts.get(i);
      if (!strip(part).equals(part) || !part.equals(sentences.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** No word begins with the letter that follows the first letter of the word before. */
  static boolean hasNoFollowingLetters(String answer) {
    List<String> words = PythonText.split(answer);
    for (int i = 0; i + 1 < words.size(); i++) {
      String first = firstLower(words.get(i));
      String second = firstLower(words.get(i + 1));
      if (PythonText.length(first) != 1
          || PythonText.length(second) != 1
          || second.codePointAt(0) - first.codePointAt(0) == 1) {
        return false;
      }
    }
    return true;
  }

  private static String firstLower(String word) {
    return lower(Character.toString(word.codePointAt(0)));
  }

  static boolean isBracketed(String answer) {
    return PythonText.split(answer).stream()
        .allMatch(word -> word.startsWith("[") && word.endsWith("]"));
  }

  /** Words one and two, three and four, … are in << and >>; a single last word may not. */
  static boolean isInBigrams(String answer) {
    List<String> words = PythonText.split(answer);
    for (int i = 0; i + 1 < words.size(); i += 2) {
      if (!words.get(i).startsWith("<<") || !words.get(i + 1).endsWith(">>")) {
        return false;
      }
    }
    return true;
  }

  static boolean holdsPalindrome(String answer) {
    return PythonText.split(answer).stream().anyMatch(PythonText::isPalindrome);
  }
}
