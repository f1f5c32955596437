package io.troupe.tasks;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How often each prompt was solved, read from results: one line a completion with {@code id} and
 * {@code reward} (and {@code completion}, {@code passed}), as {@code troupe verify} writes them, or
 * one line a prompt with {@code id} and {@code pass_rate}.
 *
 * @param byId in the order of their first line
 */
public record PassRates(Map<String, Tally> byId) {
  private static final double CORRECT = 1 - 1e-6;

  /**
   * The results of one prompt.
   *
   * @param lines number of its results
   * @param sum of their rewards
   * @param correct completions with full reward, if the lines hold completions
   */
  public record Tally(int lines, double sum, List<String> correct) {
    public Tally {
      correct = List.copyOf(correct);
    }

    /** Returns the mean reward. */
    public double rate() {
      return sum / lines;
    }

    private Tally plus(double reward, List<String> more) {
      List<String> all = new ArrayList<>(correct);
      all.addAll(more);
      return new Tally(lines + 1, sum + reward, all);
    }
  }

  /**
   * A solved prompt to imitate.
   *
   * @param passRate of the prompt
   */
  public record Example(String id, String completion, double passRate) {}

  public PassRates {
    byId = Collections.unmodifiableMap(new LinkedHashMap<>(byId));
  }

  /**
   * Reads results.
   *
   * @throws io.troupe.tasks.rows.TaskDataException if lines are bad; the message names them
   */
  public static PassRates read(List<Path> files) throws IOException {
    Map<String, Tally> tallies = new LinkedHashMap<>();
    RowFiles.read(
        files,
        row -> {
          double reward = row.has("pass_rate") ? number(row, "pass_rate") : number(row, "reward");
          String completion = row.textOrEmpty("completion");
          List<String> correct =
              reward >= CORRECT && !completion.isEmpty() && !row.has("pass_rate")
                  ? List.of(completion)
                  : List.of();
          tallies.merge(
              row.scalar("id"),
              new Tally(1, reward, correct),
              (known, _) -> known.plus(reward, correct));
        });
    return new PassRates(tallies);
  }

  private static double number(Row row, String key) throws RowException {
    if (!row.fields().path(key).isNumber()) {
      throw row.bad(key, "must be a number");
    }
    return row.fields().path(key).doubleValue();
  }

  /**
   * Returns all ids by pass rate, from the least solved to the most solved. A seeded hash orders
   * ids with the same rate, so that the order of the data set has no influence.
   *
   * @param descending whether the order is from the most solved to the least solved
   */
  public List<String> curriculum(boolean descending, long seed) {
    Comparator<Map.Entry<String, Tally>> byRate =
        Comparator.comparingDouble(entry -> entry.getValue().rate());
    return byId.entrySet().stream()
        .sorted(
            (descending ? byRate.reversed() : byRate)
                .thenComparingLong(entry -> hash(entry.getKey(), seed))
                .thenComparing(Map.Entry.comparingByKey()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Returns one correct completion, chosen by the seed, of each prompt whose pass rate lies in
   * {@code [least, most)}, in an order of the seed. Prompts without a correct completion are left
   * out.
   */
  public List<Example> examples(double least, double most, long seed) {
    List<Example> examples = new ArrayList<>();
    byId.forEach(
        (id, tally) -> {
          double rate = tally.rate();
          if (rate >= least && rate < most && !tally.correct().isEmpty()) {
            int chosen = Math.floorMod(hash(id, seed + 1), tally.correct().size());
            examples.add(new Example(id, tally.correct().get(chosen), rate));
          }
        });
    examples.sort(
        Comparator.comparingLong((Example example) -> hash(example.id(), seed))
            .thenComparing(Example::id));
    return examples;
  }

  private static long hash(String id, long seed) {
    long hash = mix(seed);
    for (int i = 0; i < id.length(); i++) {
      hash = mix(hash ^ id.charAt(i));
    }
    return hash;
  }
}
