package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isPunctuation;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.split;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.base.text.PythonText.stripEnd;
import static io.troupe.base.text.PythonText.stripStart;
import static io.troupe.base.text.PythonText.withoutPunctuation;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.language.PunktSplitter;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonPattern;
import io.troupe.verifiers.python.PythonPattern.Flag;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Conditions of IFBench on sentences and paragraphs, and on their relations. */
final class IfBenchSentences {
  private IfBenchSentences() {}

  private static List<String> sentences(String answer) {
    return PunktSplitter.english().sentences(answer);
  }

  private static long ending(List<String> sentences, String mark) {
    return sentences.stream().filter(sentence -> sentence.endsWith(mark)).count();
  }

  static boolean hasTwoStatementsAQuestion(String answer) {
    List<String> sentences = sentences(answer);
    return ending(sentences, ".") == 2 * ending(sentences, "?");
  }

  static boolean isBalanced(String answer) {
    List<String> sentences = sentences(answer);
    long statements = ending(sentences, ".");
    return statements == ending(sentences, "?") && statements == ending(sentences, "!");
  }

  /** The share of the answer's different character trigrams that the reference text has too. */
  static Predicate<String> overlap(InstructionArguments arguments) {
    Set<String> reference = trigrams(arguments.text("reference_text"));
    double percentage = arguments.number("percentage");
    return answer -> {
      Set<String> own = trigrams(answer);
      double share = 100.0 * own.stream().filter(reference::contains).count() / own.size();
      return !own.isEmpty() && share >= percentage - 2 && share <= percentage + 2;
    };
  }

  private static Set<String> trigrams(String text) {
    int[] points = text.codePoints().toArray();
    Set<String> trigrams = new HashSet<>();
    for (int i = 0; i + 3 <= points.length; i++) {
      trigrams.add(new String(points, i, 3));
    }
    return trigrams;
  }

  static boolean hasThreeOfOneLength(String answer) {
    List<String> sentences = sentences(answer);
    return sentences.size() == 3
        && sentences.stream()
                .mapToInt(sentence -> PythonText.length(strip(sentence)))
                .distinct()
                .count()
            == 1;
  }

  /** Whether each sentence has more words in alliteration than the one before. */
  static boolean alliteratesMore(String answer) {
    int previous = -1;
    for (String sentence : sentences(answer)) {
      int alliterations = alliterations(sentence);
      if (alliterations <= previous) {
        return false;
      }
      previous = alliterations;
    }
    return true;
  }

  private static int alliterations(String sentence) {
    List<Integer> initials =
        split(lower(sentence)).stream()
            .map(word -> stripStart(word, PythonText::isPunctuation))
            .filter(word -> !word.isEmpty())
            .map(word -> word.codePointAt(0))
            .toList();
    int count = 0;
    boolean running = false;
    for (int i = 0; i + 1 < initials.size(); i++) {
      boolean equal = initials.get(i).equals(initials.get(i + 1));
      if (equal) {
        count += running ? 1 : 2;
      }
      running = equal;
    }
    return count;
  }

  static Predicate<String> keyword(InstructionArguments arguments) {
    String word = PythonPattern.escape(arguments.text("word"));
    PythonPattern pattern = InstructionArguments.pattern("\\b" + word + "\\b", Flag.IGNORE_CASE);
    int nth = arguments.ordinal("N");
    return answer -> {
      List<String> sentences = sentences(answer);
      return sentences.size() >= nth && pattern.isFoundIn(sentences.get(nth - 1));
    };
  }

  static Predicate<String> increment(InstructionArguments arguments) {
    double more = arguments.number("small_n");
    return answer -> {
      List<Integer> counts =
          sentences(answer).stream()
              .map(sentence -> split(withoutPunctuation(sentence)).size())
              .toList();
      for (int i = 0; i + 1 < counts.size(); i++) {
        if (counts.get(i + 1) != counts.get(i) + more) {
          return false;
        }
      }
      return true;
    };
  }

  static boolean chainsLastToFirst(String answer) {
    List<String> sentences = sentences(answer);
    for (int i = 0; i + 1 < sentences.size(); i++) {
      List<String> last = split(stripEnd(sentences.get(i), IfBenchSentences::isMarkOrSpace));
      List<String> first = split(stripStart(sentences.get(i + 1), IfBenchSentences::isMarkOrSpace));
      if (last.isEmpty()
          || first.isEmpty()
          || !lower(last.getLast()).equals(lower(first.getFirst()))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isMarkOrSpace(int c) {
    return c == ' ' || isPunctuation(c);
  }

  static boolean hasParagraphsInLoops(String answer) {
    return split(answer, "\n").stream()
        .map(line -> split(IfBenchWords.bare(lower(strip(line)))))
        .allMatch(words -> words.isEmpty() || words.getFirst().equals(words.getLast()));
  }

  static Predicate<String> keywordPosition(InstructionArguments arguments) {
    String keyword = lower(arguments.word("keyword"));
    int nth = arguments.ordinal("n");
    int mth = arguments.ordinal("m");
    return answer -> {
      List<String> sentences = sentences(answer);
      if (sentences.size() < nth) {
        return false;
      }
      List<String> words =
          WordTokenizer.words(sentences.get(nth - 1)).stream()
              .filter(word -> word.codePoints().anyMatch(PythonText::isAlphanumeric))
              .toList();
      return words.size() >= mth && lower(words.get(mth - 1)).equals(keyword);
    };
  }

  static boolean followsAlphabet(String answer) {
    List<String> sentences = sentences(answer);
    if (sentences.size() != 26) {
      return false;
    }
    for (int i = 0; i < 26; i++) {
      List<String> words = split(sentences.get(i));
      if (words.isEmpty() || lower(words.getFirst()).codePointAt(0) != 'a' + i) {
        return false;
      }
    }
    return true;
  }

  /** Whether each sentence ends with an emoji, or the next one begins with it. */
  static boolean hasEmojis(String answer) {
    List<String> sentences =
        sentences(answer).stream().map(text -> strip(withoutPunctuation(text))).toList();
    for (int i = 0; i < sentences.size(); i++) {
      int[] points = sentences.get(i).codePoints().toArray();
      if (points.length == 0) {
        return false;
      }
      boolean atEnd =
          isEmoji(points[points.length - 1]) || isEmoji(points[Math.max(0, points.length - 2)]);
      boolean nextBegins =
          i + 1 < sentences.size()
              && !sentences.get(i + 1).isEmpty()
              && isEmoji(sentences.get(i + 1).codePointAt(0));
      if (!atEnd && !nextBegins) {
        return false;
      }
    }
    return true;
  }

  /** Digits are emojis to Unicode, and single halves of flags; not to the reference. */
  private static boolean isEmoji(int c) {
    return c > 0x7f && Character.isEmoji(c) && !(c >= 0x1f1e6 && c <= 0x1f1ff);
  }
}
