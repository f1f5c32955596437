package io.troupe.tasks.results;

import static io.troupe.core.SplitMix64.mix;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The measured results of prompts, and the data made of them.
 *
 * @param byId in the order of their first line
 */
public record StoredResults(Map<String, PromptResults> byId) {
  public StoredResults {
    byId = Collections.unmodifiableMap(new LinkedHashMap<>(byId));
  }

  /**
   * Bounds of a difficulty.
   *
   * @param least included
   * @param most included or not
   */
  public record Band(double least, double most, boolean includesMost) {
    boolean holds(double value) {
      return value >= least && (includesMost ? value <= most : value < most);
    }
  }

  /**
   * A solved prompt to imitate.
   *
   * @param difficulty of the prompt
   */
  public record Solved(String id, String completion, double difficulty) {}

  /**
   * Returns the ids of a band, from the least solved to the most solved. A seeded hash orders ids
   * with the same number, so that the order of the data set has no influence. Prompts whose number
   * is not known are left out.
   *
   * @param descending whether the order is from the most solved to the least solved
   */
  public List<String> curriculum(Difficulty key, Band band, boolean descending, long seed) {
    record Ranked(String id, double value) {}
    List<Ranked> ranked = new ArrayList<>();
    byId.forEach(
        (id, results) -> {
          OptionalDouble value = key.of(results);
          if (value.isPresent() && band.holds(value.getAsDouble())) {
            ranked.add(new Ranked(id, value.getAsDouble()));
          }
        });
    Comparator<Ranked> byValue = Comparator.comparingDouble(Ranked::value);
    return ranked.stream()
        .sorted(
            (descending ? byValue.reversed() : byValue)
                .thenComparingLong(each -> hash(each.id(), seed))
                .thenComparing(Ranked::id))
        .map(Ranked::id)
        .toList();
  }

  /** Prompts whose number is not known, because too little of them was judged. */
  public long unknown(Difficulty key) {
    return byId.values().stream().filter(results -> key.of(results).isEmpty()).count();
  }

  /**
   * Returns correct completions, chosen by the seed and different from each other, of the prompts
   * of a band, in an order of the seed. Prompts without a correct completion are left out.
   *
   * @param each most completions of a prompt
   */
  public List<Solved> solved(Difficulty key, Band band, int each, long seed) {
    List<String> ids = new ArrayList<>(byId.keySet());
    ids.sort(
        Comparator.comparingLong((String id) -> hash(id, seed))
            .thenComparing(Comparator.naturalOrder()));
    List<Solved> solved = new ArrayList<>();
    for (String id : ids) {
      PromptResults results = byId.getOrDefault(id, PromptResults.NONE);
      OptionalDouble value = key.of(results);
      if (value.isPresent() && band.holds(value.getAsDouble())) {
        results.correct().stream()
            .distinct()
            .sorted(
                Comparator.comparingLong((String text) -> hash(id + "\0" + text, seed + 1))
                    .thenComparing(Comparator.naturalOrder()))
            .limit(each)
            .forEach(text -> solved.add(new Solved(id, text, value.getAsDouble())));
      }
    }
    return solved;
  }

  private static long hash(String text, long seed) {
    long hash = mix(seed);
    for (int i = 0; i < text.length(); i++) {
      hash = mix(hash ^ text.charAt(i));
    }
    return hash;
  }
}
