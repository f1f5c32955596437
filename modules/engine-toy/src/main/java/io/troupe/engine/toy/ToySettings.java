package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * The alphabet of the toy policy and the size of its table.
 *
 * @param alphabet of its character tokenizer
 * @param contextLength most tokens of prompt and completion together, at least 2
 * @param positions number of completion tokens with rows of their own, at least 1; later tokens
 *     share the last
 * @param rows number of rows for each position, by the sum of the prompt's tokens, at least 1
 * @param tokenDelay time that a sampler waits after each token, to simulate a slow one; 0 or longer
 */
public record ToySettings(
    String alphabet, int contextLength, int positions, int rows, Duration tokenDelay) {
  private static final long MOST_CELLS = 1 << 24;

  public ToySettings {
    require(contextLength >= 2, "the context length is 2 or greater, not %d", contextLength);
    require(positions >= 1, "at least one position has rows, not %d", positions);
    require(rows >= 1, "a position has at least one row, not %d", rows);
    require(
        (long) positions * rows * (alphabet.length() + 2) <= MOST_CELLS,
        "%d positions of %d rows for %d characters exceed the limit of %d parameters",
        positions,
        rows,
        alphabet.length(),
        MOST_CELLS);
    require(!tokenDelay.isNegative(), "the token delay is 0 or longer, not %s", tokenDelay);
  }

  /** Four positions of 64 rows, no delay: enough for sums of two digits. */
  public static ToySettings of(String alphabet, int contextLength) {
    return new ToySettings(alphabet, contextLength, 4, 64, Duration.ZERO);
  }

  /** Returns these settings with a delay after each token. */
  public ToySettings withTokenDelay(Duration delay) {
    return new ToySettings(alphabet, contextLength, positions, rows, delay);
  }
}
