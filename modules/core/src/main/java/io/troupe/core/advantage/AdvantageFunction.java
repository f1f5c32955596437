package io.troupe.core.advantage;

import java.util.List;

/**
 * Advantages of a user's own.
 *
 * <p>An implementation has a public constructor without parameters and is pure: the same numbers
 * give the same advantages.
 */
public interface AdvantageFunction {
  /**
   * Returns the advantages of a step.
   *
   * @param rewards an array a group, an element a completion, finite
   * @param lengths of the same shape: sampled tokens, 1 or more
   * @return of the same shape, finite
   */
  List<double[]> of(List<double[]> rewards, List<int[]> lengths);
}
