package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isPunctuation;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.split;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.base.text.PythonText.withoutPunctuation;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.language.EnglishWords;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonPattern;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Conditions of IFBench on single words. */
final class IfBenchWords {
  private static final Set<String> CONJUNCTIONS =
      Set.of("and", "but", "for", "nor", "or", "so", "yet");

  private static final List<String> NAMES =
      split(
          """
          Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander
          Amelia Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel
          Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah Christopher
          Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan
          """);

  private static final Set<String> PRONOUNS =
      Set.copyOf(
          split(
              """
              i me we us you he him she her it they them my mine our ours your yours his hers its
              their theirs myself ourselves yourself yourselves himself herself itself themselves
              this that these those who whom whose which what whoever whomever whatever whichever
              anybody anyone anything everybody everyone everything nobody nothing somebody someone
              something each either neither both all some any none
              """));

  private static final Set<Integer> PRIMES =
      Set.of(
          2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83,
          89, 97);

  private IfBenchWords() {}

  static Predicate<String> countRange(InstructionArguments arguments) {
    double least = arguments.number("min_words");
    double most = arguments.number("max_words");
    return answer -> {
      int words = PythonText.words(answer).size();
      return words >= least && words <= most;
    };
  }

  static Predicate<String> uniqueWords(InstructionArguments arguments) {
    double number = arguments.number("N");
    return answer ->
        split(lower(answer)).stream().map(IfBenchWords::bare).distinct().count() >= number;
  }

  /** A word less the punctuation at its ends. */
  static String bare(String word) {
    return strip(word, c -> c == ' ' || isPunctuation(c));
  }

  static Predicate<String> stopWords(InstructionArguments arguments) {
    double percentage = arguments.number("percentage");
    return answer -> {
      List<String> words = PythonText.words(answer);
      long stops = words.stream().map(PythonText::lower).filter(EnglishWords::isStopWord).count();
      return !words.isEmpty() && (double) stops / words.size() * 100 <= percentage;
    };
  }

  /** Different spellings of one conjunction count apart, as in the reference. */
  static Predicate<String> conjunctions(InstructionArguments arguments) {
    double number = arguments.number("small_n");
    return answer ->
        split(answer).stream()
                .filter(word -> CONJUNCTIONS.contains(lower(bare(word))))
                .distinct()
                .count()
            >= number;
  }

  static Predicate<String> personNames(InstructionArguments arguments) {
    double number = arguments.number("N");
    return answer -> {
      Set<String> words = new HashSet<>(PythonText.words(answer));
      return NAMES.stream().filter(words::contains).count() >= number;
    };
  }

  static Predicate<String> pronouns(InstructionArguments arguments) {
    double number = arguments.number("N");
    return answer ->
        WordTokenizer.words(lower(answer.replace('/', ' '))).stream()
                .filter(PRONOUNS::contains)
                .count()
            >= number;
  }

  /** Digits with punctuation between them are one number. */
  static Predicate<String> numbers(InstructionArguments arguments) {
    double number = arguments.number("N");
    PythonPattern digits = PythonPattern.compile("\\d+");
    return answer -> digits.countIn(withoutPunctuation(answer)) == number;
  }

  static boolean followsAlphabet(String answer) {
    List<String> words = split(withoutPunctuation(answer));
    if (words.isEmpty()) {
      return false;
    }
    String first = lower(Character.toString(words.getFirst().codePointAt(0)));
    if (first.length() != 1 || first.charAt(0) < 'a' || first.charAt(0) > 'z') {
      return false;
    }
    for (int i = 1; i < words.size(); i++) {
      int wanted = 'a' + (first.charAt(0) - 'a' + i) % 26;
      if (lower(words.get(i)).charAt(0) != wanted) {
        return false;
      }
    }
    return true;
  }

  static boolean hasThreeVowels(String answer) {
    String paragraph = strip(answer);
    return paragraph.indexOf('\n') < 0
        && lower(paragraph).chars().filter(c -> "aeiou".indexOf(c) >= 0).distinct().count() <= 3;
  }

  static boolean hasConsonantClusters(String answer) {
    PythonPattern cluster = PythonPattern.compile("[b-df-hj-np-tv-z]{2}");
    return split(lower(answer)).stream().allMatch(cluster::isFoundIn);
  }

  static boolean hasTenPalindromes(String answer) {
    return split(lower(withoutPunctuation(answer))).stream()
            .filter(word -> PythonText.length(word) >= 5 && PythonText.isPalindrome(word))
            .count()
        >= 10;
  }

  static boolean hasPrimeLengths(String answer) {
    return split(withoutPunctuation(answer)).stream()
        .allMatch(word -> PRIMES.contains(PythonText.length(word)));
  }

  static boolean startsWithVerb(String answer) {
    List<String> words = WordTokenizer.words(answer);
    return !words.isEmpty() && EnglishWords.startsAsVerb(words.getFirst());
  }

  static Predicate<String> repeats(InstructionArguments arguments) {
    double most = arguments.number("small_n");
    return answer -> {
      Map<String, Integer> counts = new HashMap<>();
      split(withoutPunctuation(lower(answer))).forEach(word -> counts.merge(word, 1, Integer::sum));
      return counts.values().stream().allMatch(count -> count <= most);
    };
  }

  static boolean alternatesSyllables(String answer) {
    List<Integer> parities =
        split(lower(withoutPunctuation(answer))).stream()
            .map(word -> EnglishWords.syllables(word) % 2)
            .toList();
    return noneEqualsNext(parities);
  }

  static boolean hasNoEqualNeighbours(String answer) {
    return noneEqualsNext(
        split(withoutPunctuation(lower(answer))).stream()
            .map(word -> word.codePointAt(0))
            .toList());
  }

  private static boolean noneEqualsNext(List<Integer> values) {
    for (int i = 0; i + 1 < values.size(); i++) {
      if (values.get(i).equals(values.get(i + 1))) {
        return false;
      }
    }
    return true;
  }

  /** Every n-th word holds a Japanese character; numbers and bare punctuation are exempt. */
  static Predicate<String> japanese(InstructionArguments arguments) {
    int every = arguments.ordinal("N");
    return answer -> {
      List<String> words = split(answer);
      for (int i = every - 1; i < words.size(); i += every) {
        String word = bare(words.get(i));
        if (!word.isEmpty()
            && !word.codePoints().allMatch(PythonText::isDecimal)
            && word.codePoints().noneMatch(IfBenchWords::isJapanese)) {
          return false;
        }
      }
      return true;
    };
  }

  private static boolean isJapanese(int c) {
    return (c >= 0x3040 && c <= 0x30ff) || (c >= 0x4e00 && c <= 0x9fff);
  }

  /** The second and the second to last token are the keyword; one mark at the end is not a word. */
  static Predicate<String> secondWords(InstructionArguments arguments) {
    String keyword = lower(arguments.word("keyword"));
    return answer -> {
      List<String> words = WordTokenizer.words(answer);
      if (words.size() < 2) {
        return false;
      }
      boolean mark = PythonText.PUNCTUATION.contains(words.getLast());
      int last = words.size() - (mark ? 3 : 2);
      return last >= 0
          && lower(words.get(1)).equals(keyword)
          && lower(words.get(last)).equals(keyword);
    };
  }
}
