package io.troupe.core.prompt;

import static io.troupe.core.Require.require;
import static io.troupe.core.SplitMix64.mix;

/**
 * The order of prompts within an epoch: a pseudo-random permutation that depends on the seed and
 * the epoch alone.
 */
public final class PromptOrder {
  /*
   * A balanced Feistel network over the smallest even number of bits that holds the pool, walked
   * along its cycle until it lands inside the pool (Black and Rogaway, "Ciphers with arbitrary
   * finite domains", 2002). A bijection for every key, constant memory, and on average fewer than
   * four walks a look-up, so that a million prompts need no shuffled array in the journal, in a
   * checkpoint, or in memory.
   */
  private static final int ROUNDS = 6;

  private PromptOrder() {}

  /**
   * The prompt at a position.
   *
   * @param position 0 to prompts - 1
   * @param prompts size of the pool, 1 or more
   * @return index of the prompt in the pool
   */
  public static int at(long seed, long epoch, int position, int prompts) {
    require(prompts >= 1, "a pool holds at least one prompt, not %d", prompts);
    require(
        position >= 0 && position < prompts,
        "position %d lies outside a pool of %d prompts",
        position,
        prompts);
    int half = Math.max(1, (33 - Integer.numberOfLeadingZeros(prompts - 1)) / 2);
    long walked = position;
    do {
      walked = permute(walked, half, mix(seed) ^ mix(epoch + 0x5DEECE66DL));
    } while (walked >= prompts);
    return (int) walked;
  }

  private static long permute(long block, int half, long key) {
    long mask = (1L << half) - 1;
    long left = block >>> half;
    long right = block & mask;
    for (int round = 0; round < ROUNDS; round++) {
      long next = left ^ (mix(key + right + 0x9E3779B97F4A7C15L * (round + 1)) & mask);
      left = right;
      right = next;
    }
    return left << half | right;
  }
}
