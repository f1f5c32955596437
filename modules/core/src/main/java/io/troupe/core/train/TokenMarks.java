package io.troupe.core.train;

import io.troupe.core.loss.ScalarLoss.TokenLoss;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The tokens of a completion that the loss treated apart in the step that trained on it. Tokens
 * without a loss weight have no mark; a token may have several.
 *
 * @param low tokens whose ratio to the sampler lay below the clip range, whatever the advantage's
 *     sign
 * @param high tokens whose ratio lay above the clip range
 * @param cut tokens whose importance weight was cut to the correction's cap
 * @param masked that had no weight, by IcePop or a sequence mask
 */
public record TokenMarks(
    List<MarkedRun> low, List<MarkedRun> high, List<MarkedRun> cut, List<MarkedRun> masked) {
  /** The marks of a completion whose tokens were all treated alike. */
  public static final TokenMarks NONE = new TokenMarks(List.of(), List.of(), List.of(), List.of());

  public TokenMarks {
    low = List.copyOf(low);
    high = List.copyOf(high);
    cut = List.copyOf(cut);
    masked = List.copyOf(masked);
  }

  /**
   * Consecutive tokens.
   *
   * @param from index of the first in its completion
   * @param tokens number of tokens
   */
  public record MarkedRun(int from, int tokens) {}

  /**
   * The marks of a sequence.
   *
   * @param weights loss weights of the sequence
   * @param tokens losses of those with a weight, in order
   */
  static TokenMarks of(float[] weights, List<TokenLoss> tokens) {
    return new TokenMarks(
        runs(weights, tokens, TokenLoss::clippedLow),
        runs(weights, tokens, TokenLoss::clippedHigh),
        runs(weights, tokens, TokenLoss::truncated),
        runs(weights, tokens, TokenLoss::masked));
  }

  private static List<MarkedRun> runs(
      float[] weights, List<TokenLoss> tokens, Predicate<TokenLoss> marked) {
    List<MarkedRun> runs = new ArrayList<>();
    int weighted = 0;
    int length = 0;
    for (int t = 0; t < weights.length; t++) {
      if (weights[t] != 0 && marked.test(tokens.get(weighted++))) {
        length++;
      } else if (length > 0) {
        runs.add(new MarkedRun(t - length, length));
        length = 0;
      }
    }
    if (length > 0) {
      runs.add(new MarkedRun(weights.length - length, length));
    }
    return runs;
  }
}
