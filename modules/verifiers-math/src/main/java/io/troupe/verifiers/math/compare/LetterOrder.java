package io.troupe.verifiers.math.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Whether letters in a row may be in another order.
 *
 * <p>Products may, words may not. What looks like a product is short, in lower case, and made of
 * different letters that are together in formulas: {@code ab}, {@code xyz}, {@code mn}. In all else
 * the order counts: {@code dog}, {@code HHT}, {@code XIX}, {@code ABC} as a ranking, matrices.
 */
final class LetterOrder {
  private static final List<String> FAMILIES =
      List.of("abcd", "xyz", "mn", "pqr", "uvw", "rst", "kn", "kx", "mx", "nx", "bx", "vt", "rt");

  /** Words that the letters of a family make. */
  private static final Set<String> WORDS = Set.of("bad", "dab", "cab", "ad", "add", "dad");

  private LetterOrder() {}

  static boolean isSame(String gold, String answer) {
    if (gold.equals(answer)) {
      return true;
    }
    if (gold.equalsIgnoreCase(answer)) {
      return !hasPairs(gold);
    }
    return sorted(gold).equals(sorted(answer)) && isProduct(gold) && isProduct(answer);
  }

  private static boolean isProduct(String run) {
    boolean family =
        FAMILIES.stream().anyMatch(letters -> run.chars().allMatch(c -> letters.indexOf(c) >= 0));
    return family
        && run.length() <= 4
        && run.chars().distinct().count() == run.length()
        && !WORDS.contains(run);
  }

  private static String sorted(String run) {
    char[] letters = run.toCharArray();
    Arrays.sort(letters);
    return new String(letters);
  }

  /** Genotypes such as {@code Aa} and {@code AaBb}, whose case is all they say. */
  static boolean hasPairs(String run) {
    String lower = run.toLowerCase(Locale.ROOT);
    boolean pairs = !lower.isEmpty() && lower.length() % 2 == 0;
    for (int i = 0; i + 1 < lower.length(); i += 2) {
      pairs &= lower.charAt(i) == lower.charAt(i + 1);
    }
    return pairs;
  }
}
