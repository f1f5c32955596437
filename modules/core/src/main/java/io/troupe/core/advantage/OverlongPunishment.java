package io.troupe.core.advantage;

import static io.troupe.core.Require.require;

/**
 * Soft overlong punishment (Yu et al. 2025, DAPO, eq. 13): what a completion's reward loses because
 * it comes near its token limit.
 *
 * <p>With L tokens of the limit, C of the buffer and |y| of the completion:
 *
 * <pre>
 *   R(y) = 0                        |y| &lt;= L - C
 *        = ((L - C) - |y|) / C      L - C &lt; |y| &lt;= L
 * </pre>
 *
 * <p>times the factor, so that a completion of L tokens, which the limit cut off, loses all of it.
 *
 * @param buffer C, in tokens; 0 punishes nothing
 * @param factor factor of R, 0 or greater
 */
public record OverlongPunishment(int buffer, double factor) {
  /** No punishment. */
  public static final OverlongPunishment NONE = new OverlongPunishment(0, 1);

  public OverlongPunishment {
    require(buffer >= 0, "the buffer before a token limit is 0 tokens or more, not %d", buffer);
    require(
        factor >= 0 && Double.isFinite(factor),
        "the factor of a punishment is a finite number, 0 or greater, not %s",
        factor);
  }

  /** Whether anything is punished. */
  public boolean active() {
    return buffer > 0 && factor > 0;
  }

  /**
   * Returns the share of the factor that is added to a reward: from -1 to 0.
   *
   * @param length tokens of the completion
   * @param limit of its tokens
   */
  public double share(int length, int limit) {
    int free = limit - buffer;
    if (!active() || length <= free) {
      return 0;
    }
    return Math.max(-1, (double) (free - length) / buffer);
  }
}
