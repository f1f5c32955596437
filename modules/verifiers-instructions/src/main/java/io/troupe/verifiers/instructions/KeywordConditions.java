package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.lower;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.python.PythonPattern;
import io.troupe.verifiers.python.PythonPattern.Flag;
import java.util.List;
import java.util.function.Predicate;

/** Conditions on the words and letters an answer holds. */
final class KeywordConditions {
  private KeywordConditions() {}

  static Predicate<String> existence(InstructionArguments arguments) {
    List<PythonPattern> keywords =
        arguments.texts("keywords").stream()
            .map(keyword -> InstructionArguments.pattern(keyword, Flag.IGNORE_CASE))
            .toList();
    return answer -> keywords.stream().allMatch(keyword -> keyword.isFoundIn(answer));
  }

  static Predicate<String> frequency(InstructionArguments arguments) {
    PythonPattern keyword = arguments.keyword("keyword");
    double frequency = arguments.number("frequency");
    CountRelation relation = arguments.relation("relation");
    return answer -> relation.holds(keyword.countIn(answer), frequency);
  }

  static Predicate<String> forbiddenWords(InstructionArguments arguments) {
    List<PythonPattern> words =
        arguments.texts("forbidden_words").stream()
            .map(word -> InstructionArguments.pattern("\\b" + word + "\\b", Flag.IGNORE_CASE))
            .toList();
    return answer -> words.stream().noneMatch(word -> word.isFoundIn(answer));
  }

  static Predicate<String> letterFrequency(InstructionArguments arguments) {
    String letter = lower(arguments.word("letter"));
    double frequency = arguments.number("let_frequency");
    CountRelation relation = arguments.relation("let_relation");
    if (PythonText.length(letter) != 1) {
      throw new BadArgumentException("letter is not one character");
    }
    int wanted = letter.codePointAt(0);
    return answer ->
        relation.holds(lower(answer).codePoints().filter(c -> c == wanted).count(), frequency);
  }

  static Predicate<String> once(InstructionArguments arguments) {
    PythonPattern keyword = arguments.keyword("keyword");
    return answer -> keyword.countIn(answer) == 1;
  }

  static Predicate<String> onceAndTwice(InstructionArguments arguments) {
    PythonPattern once = arguments.keyword("keyword1");
    PythonPattern twice = arguments.keyword("keyword2");
    return answer -> once.countIn(answer) == 1 && twice.countIn(answer) == 2;
  }

  static Predicate<String> spacedWordAbsent(InstructionArguments arguments) {
    String word = " " + arguments.word("keyword") + " ";
    arguments.ignore("instruction");
    return answer -> !answer.contains(word);
  }

  /** Each of five words the given number of times, as substrings in any case. */
  static Predicate<String> fiveFrequencies(InstructionArguments arguments) {
    int[] counts = {1, 2, 3, 5, 7};
    List<String> words =
        List.of("keyword1", "keyword2", "keyword3", "keyword4", "keyword5").stream()
            .map(name -> lower(arguments.word(name)))
            .toList();
    return answer -> {
      String text = lower(answer);
      for (int i = 0; i < counts.length; i++) {
        if (PythonText.count(text, words.get(i)) != counts[i]) {
          return false;
        }
      }
      return true;
    };
  }

  /** Letters A to Z of either case. */
  static Predicate<String> letters(InstructionArguments arguments) {
    double number = arguments.number("N");
    CountRelation relation = arguments.relation("relation");
    return answer ->
        relation.holds(answer.chars().filter(PythonText::isAsciiLetter).count(), number);
  }
}
