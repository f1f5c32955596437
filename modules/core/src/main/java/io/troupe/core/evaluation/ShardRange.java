package io.troupe.core.evaluation;

import static io.troupe.core.Require.require;

/**
 * One of several contiguous parts of a list, each of ⌈size / count⌉ items but the last ones, which
 * may be shorter or empty.
 *
 * @param index from 1 to count
 * @param count of parts
 */
public record ShardRange(int index, int count) {
  /** The whole list. */
  public static final ShardRange WHOLE = new ShardRange(1, 1);

  public ShardRange {
    require(
        count >= 1 && index >= 1 && index <= count,
        "a shard is i/n with i from 1 to n, not %d/%d",
        index,
        count);
  }

  /** First item of this part, from 0. */
  public int from(int size) {
    return (int) Math.min(size, (long) (index - 1) * width(size));
  }

  /** Returns the index behind the last item of this part. */
  public int to(int size) {
    return (int) Math.min(size, (long) index * width(size));
  }

  private int width(int size) {
    return Math.ceilDiv(size, count);
  }

  @Override
  public String toString() {
    return index + "/" + count;
  }
}
