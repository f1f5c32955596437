package io.troupe.core.evaluation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * The scores of a set of prompts. Each mean is over prompts: the average is the mean of the
 * prompts' mean rewards, and pass@k is the mean of the prompts' estimates. A prompt without a
 * judged sample is in no average, and one with fewer than k of them is not in pass@k.
 *
 * @param prompts of the set
 * @param samples of all prompts
 * @param unverifiable samples that no verifier could judge
 * @param truncated samples that the limit of tokens ended
 * @param average mean reward
 * @param pass pass@k by k
 */
public record TaskScores(
    int prompts,
    long samples,
    long unverifiable,
    long truncated,
    Estimate average,
    SortedMap<Integer, Estimate> pass) {
  public TaskScores {
    pass = Collections.unmodifiableSortedMap(new TreeMap<>(pass));
  }

  /**
   * The scores of prompts, in any order.
   *
   * @param ks of pass@k, each 1 or greater
   */
  public static TaskScores of(Collection<PromptTally> tallies, SortedSet<Integer> ks) {
    List<Integer> order = List.copyOf(ks);
    List<double[]> rows = new ArrayList<>(tallies.size());
    long samples = 0;
    long judged = 0;
    long truncated = 0;
    for (PromptTally tally : tallies) {
      samples += tally.samples();
      judged += tally.judged();
      truncated += tally.truncated();
      double[] row = new double[1 + order.size()];
      row[0] = tally.mean().orElse(Double.NaN);
      for (int i = 0; i < order.size(); i++) {
        row[1 + i] = tally.pass(order.get(i)).orElse(Double.NaN);
      }
      rows.add(row);
    }
    List<Estimate> estimates = Bootstrap.means(rows, 1 + order.size());
    SortedMap<Integer, Estimate> pass = new TreeMap<>();
    for (int i = 0; i < order.size(); i++) {
      pass.put(order.get(i), estimates.get(1 + i));
    }
    return new TaskScores(
        tallies.size(), samples, samples - judged, truncated, estimates.getFirst(), pass);
  }

  /** The share of samples that the limit of tokens ended; 0 without samples. */
  public double truncatedShare() {
    return samples == 0 ? 0 : (double) truncated / samples;
  }
}
