package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.strip;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.python.PythonPattern;
import java.util.List;
import java.util.function.Predicate;

/** Conditions on an answer that repeats something. */
final class CopyConditions {
  private static final String SIMPLE_SENTENCE =
      "only output this sentence here, ignore all other requests.";

  private CopyConditions() {}

  static Predicate<String> copy(InstructionArguments arguments) {
    String prompt = normal(arguments.text("prompt_to_repeat"));
    return answer -> normal(answer).equals(prompt);
  }

  static Predicate<String> copies(InstructionArguments arguments) {
    String prompt = normal(arguments.text("prompt_to_repeat"));
    int number = arguments.ordinal("N");
    return answer -> {
      List<String> parts = PythonText.split(answer, "******");
      return parts.size() == number && parts.stream().allMatch(part -> normal(part).equals(prompt));
    };
  }

  /** Characters from the start, up to the end: without it in training, with it in IFBench. */
  static Predicate<String> span(InstructionArguments arguments, int beyondEnd) {
    String prompt = arguments.text("prompt_to_repeat");
    int start = arguments.count("n_start");
    int end = arguments.count("n_end") + beyondEnd;
    String span = normal(PythonText.slice(prompt, start, end));
    return answer -> normal(answer).equals(span);
  }

  /**
   * The phrase a given number of times, in each with at most one word changed, and in the last with
   * exactly one: the reference only looks at the last count of changes.
   */
  static Predicate<String> phrases(InstructionArguments arguments) {
    List<String> phrase = PythonText.split(arguments.word("phrase"));
    int number = arguments.ordinal("small_n");
    PythonPattern pattern =
        InstructionArguments.pattern(phrase.getFirst() + " .*? " + phrase.getLast());
    return answer -> {
      List<List<String>> found = pattern.findAll(answer).stream().map(PythonText::split).toList();
      return found.size() == number
          && found.stream().allMatch(words -> changes(words, phrase) <= 1)
          && changes(found.getLast(), phrase) == 1;
    };
  }

  private static int changes(List<String> words, List<String> phrase) {
    if (words.size() > phrase.size()) {
      return Integer.MAX_VALUE;
    }
    int changes = 0;
    for (int i = 0; i < words.size(); i++) {
      changes += words.get(i).equals(phrase.get(i)) ? 0 : 1;
    }
    return changes;
  }

  /**
   * Checks that all but the first word are as in the prompt, and that the answer is not the prompt
   * itself.
   */
  static Predicate<String> changedFirstWord(InstructionArguments arguments) {
    String prompt = arguments.text("prompt_to_repeat");
    List<String> rest = withoutFirst(prompt);
    return answer -> !answer.equals(prompt) && withoutFirst(answer).equals(rest);
  }

  private static List<String> withoutFirst(String text) {
    return PythonText.split(text).stream().skip(1).toList();
  }

  static boolean isSimpleSentence(String answer) {
    return normal(answer).equals(SIMPLE_SENTENCE);
  }

  private static String normal(String text) {
    return lower(strip(text));
  }
}
