package io.troupe.base.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** The word that a person may have meant by an unknown one. */
public final class NearWords {
  private static final int FEWEST_EDITS = 2;

  private NearWords() {}

  /** Returns the nearest of the known words, if it is near. */
  public static Optional<String> nearest(String word, Collection<String> known) {
    return known.stream()
        .filter(each -> Math.abs(each.length() - word.length()) <= most(word))
        .filter(each -> distance(word, each) <= most(word))
        .min(
            Comparator.comparingInt((String each) -> distance(word, each))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static int most(String word) {
    return Math.max(FEWEST_EDITS, word.length() / 3);
  }

  /** Edits (insert, delete, replace) from one word to the other: Levenshtein 1966. */
  static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }
}
