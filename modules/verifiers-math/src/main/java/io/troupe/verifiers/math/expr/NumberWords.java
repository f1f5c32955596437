package io.troupe.verifiers.math.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Numbers in English words: "twenty-four", "five thousand", "two thirds", "half a dozen". */
public final class NumberWords {
  private static final List<String> SMALL =
      List.of(
          "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
              .concat(" fifteen sixteen seventeen eighteen nineteen")
              .split(" ", -1));

  private static final List<String> TENS =
      List.of("twenty thirty forty fifty sixty seventy eighty ninety".split(" ", -1));

  private static final List<String> ORDINALS =
      List.of(
          "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
              .concat(
                  " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth")
              .split(" ", -1));

  private static final Map<String, Long> SCALES =
      Map.of(
          "hundred", 100L,
          "thousand", 1_000L,
          "million", 1_000_000L,
          "billion", 1_000_000_000L,
          "trillion", 1_000_000_000_000L,
          "dozen", 12L);

  private NumberWords() {}

  /** The factor of a word such as "million", behind digits. */
  public static Optional<Long> scale(String word) {
    String singular = word.endsWith("s") ? word.substring(0, word.length() - 1) : word;
    return Optional.ofNullable(SCALES.get(singular.toLowerCase(Locale.ROOT)));
  }

  /** The number that all of these words are. */
  public static Optional<Rational> of(String text) {
    List<String> words =
        new ArrayList<>(List.of(text.toLowerCase(Locale.ROOT).strip().split("[ -]+", 14)));
    if (words.size() > 1 && (words.get(0).equals("negative") || words.get(0).equals("minus"))) {
      return magnitude(words.subList(1, words.size())).map(Rational::negate);
    }
    return magnitude(words);
  }

  private static Optional<Rational> magnitude(List<String> words) {
    int and = words.lastIndexOf("and");
    String last = words.getLast();
    Optional<Long> parts = denominator(last);
    if (parts.isPresent()) {
      List<String> top = words.subList(and > 0 ? and + 1 : 0, words.size() - 1);
      Optional<Long> numerator =
          top.isEmpty() || top.equals(List.of("a")) || top.equals(List.of("an"))
              ? Optional.of(1L).filter(_ -> last.equals("half") || !top.isEmpty())
              : integer(top);
      Optional<Long> whole = and > 0 ? integer(words.subList(0, and)) : Optional.of(0L);
      return numerator.flatMap(n -> whole.map(w -> Rational.of(w * parts.get() + n, parts.get())));
    }
    return integer(words).map(Rational::of);
  }

  /** The parts of a whole that a word such as "thirds" counts, behind their number. */
  public static Optional<Long> denominator(String word) {
    String singular = word.endsWith("s") ? word.substring(0, word.length() - 1) : word;
    return switch (singular) {
      case "half", "halve" -> Optional.of(2L);
      case "quarter" -> Optional.of(4L);
      case "twentieth" -> Optional.of(20L);
      case "hundredth" -> Optional.of(100L);
      case "thousandth" -> Optional.of(1_000L);
      case "millionth" -> Optional.of(1_000_000L);
      default -> {
        int ordinal = ORDINALS.indexOf(singular);
        yield ordinal >= 3 ? Optional.of((long) ordinal) : Optional.empty();
      }
    };
  }

  /** The number of an ordinal: "seventh", "twenty-first". */
  public static Optional<Long> ordinal(String text) {
    List<String> words = List.of(text.toLowerCase(Locale.ROOT).strip().split("[ -]+", 3));
    int last = ORDINALS.indexOf(words.getLast());
    int ten = words.size() == 2 ? TENS.indexOf(words.get(0)) : -1;
    int round = words.size() == 1 ? TENS.indexOf(words.get(0).replaceFirst("ieth$", "y")) : -1;
    if (round >= 0 && words.get(0).endsWith("th")) {
      return Optional.of(10L * (round + 2));
    }
    return last > 0 && (words.size() == 1 || (ten >= 0 && last < 10))
        ? Optional.of(words.size() == 1 ? last : 10L * (ten + 2) + last)
        : Optional.empty();
  }

  private static Optional<Long> integer(List<String> words) {
    long total = 0;
    long group = 0;
    long smallest = Long.MAX_VALUE;
    int room = 1_000;
    boolean any = false;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      int small = SMALL.indexOf(word);
      int ten = TENS.indexOf(word);
      Long scale = SCALES.get(word);
      if (word.equals("and") && any && i + 1 < words.size()) {
        continue;
      } else if (word.equals("a") && i == 0 && words.size() > 1) {
        group = 1;
        room = 1;
      } else if (small >= 0 && small < room && (small > 0 || words.size() == 1)) {
        group += small;
        room = 1;
      } else if (ten >= 0 && room > 20) {
        group += 10L * (ten + 2);
        room = 10;
      } else if (scale != null && scale == 100 && group > 0 && group < 100) {
        group *= 100;
        room = 100;
      } else if (scale != null && scale != 100 && group > 0 && scale < smallest) {
        total += group * scale;
        smallest = scale;
        group = 0;
        room = 1_000;
      } else {
        return Optional.empty();
      }
      any = true;
    }
    return any ? Optional.of(total + group) : Optional.empty();
  }
}
