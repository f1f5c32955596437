package io.troupe.gym.quality;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Texts by their word n-grams, to find those that are nearly the same: letters and digits are kept,
 * upper case is ignored, and a text shorter than n words is one gram. The similarity of two texts
 * is the Jaccard index of their sets of grams.
 */
public final class NgramIndex {
  private final int n;
  private final List<String> names = new ArrayList<>();
  private final List<Set<String>> grams = new ArrayList<>();
  private final Map<String, List<Integer>> holders = new HashMap<>();

  /** An index of no text. */
  public NgramIndex(int n) {
    require(n >= 1, "an n-gram has at least one word, not %d", n);
    this.n = n;
  }

  /** Adds a text under the name that {@link #nearest} gives. */
  public void add(String name, String text) {
    int place = names.size();
    Set<String> of = grams(text);
    names.add(name);
    grams.add(of);
    of.forEach(gram -> holders.computeIfAbsent(gram, _ -> new ArrayList<>()).add(place));
  }

  /** Returns the name of the first text whose similarity is at least a threshold. */
  public Optional<String> nearest(String text, double threshold) {
    Set<String> of = grams(text);
    Map<Integer, Integer> shared = new HashMap<>();
    for (String gram : of) {
      holders.getOrDefault(gram, List.of()).forEach(place -> shared.merge(place, 1, Integer::sum));
    }
    return shared.entrySet().stream()
        .filter(
            each -> {
              int union = of.size() + grams.get(each.getKey()).size() - each.getValue();
              return each.getValue() >= threshold * union;
            })
        .map(Map.Entry::getKey)
        .min(Integer::compare)
        .map(names::get);
  }

  private Set<String> grams(String text) {
    List<String> words =
        List.of(text.toLowerCase(Locale.ROOT).strip().split("[^\\p{L}\\p{N}+*/=<>-]+", -1)).stream()
            .filter(word -> !word.isEmpty() && !word.matches("--+")) // a dash
            .toList();
    Set<String> all = new HashSet<>();
    for (int i = 0; i + n <= words.size(); i++) {
      all.add(String.join(" ", words.subList(i, i + n)));
    }
    if (all.isEmpty()) {
      all.add(String.join(" ", words));
    }
    return all;
  }
}
