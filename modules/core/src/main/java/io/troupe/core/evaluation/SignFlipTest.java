package io.troupe.core.evaluation;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The permutation test of two policies on the same prompts (Fisher 1935): whether the sum of the
 * differences between their rewards is as far from 0 as their signs make it by chance. For one
 * answer a prompt that is right or wrong it is {@link McNemarTest}.
 */
public final class SignFlipTest {
  /** Up to this number of differences that are not 0, all signs are tried; else some are drawn. */
  private static final int MOST_TRIED = 14;

  private static final int DRAWS = 9_999;
  private static final double ROUNDING = 1e-12;

  private SignFlipTest() {}

  /** The two-sided p-value of differences, one a prompt; 1 where all are 0. */
  public static double pValue(double[] differences) {
    double[] sizes = Arrays.stream(differences).filter(each -> each != 0).map(Math::abs).toArray();
    double all = Arrays.stream(sizes).sum();
    double least = Math.abs(Arrays.stream(differences).sum()) - ROUNDING * all;
    if (sizes.length <= MOST_TRIED) {
      int ways = 1 << sizes.length;
      int far = 0;
      for (long signs = 0; signs < ways; signs++) {
        far += Math.abs(all - 2 * part(sizes, new long[] {signs})) >= least ? 1 : 0;
      }
      return (double) far / ways;
    }
    SplittableRandom random = new SplittableRandom(Bootstrap.SEED);
    long[] signs = new long[(sizes.length + Long.SIZE - 1) / Long.SIZE];
    int far = 1;
    for (int draw = 0; draw < DRAWS; draw++) {
      Arrays.setAll(signs, _ -> random.nextLong());
      far += Math.abs(all - 2 * part(sizes, signs)) >= least ? 1 : 0;
    }
    return far / (DRAWS + 1.0);
  }

  /** The sum of the sizes whose sign is minus. */
  private static double part(double[] sizes, long[] signs) {
    double sum = 0;
    for (int i = 0; i < sizes.length; i++) {
      sum += (signs[i / Long.SIZE] >>> i % Long.SIZE & 1) == 1 ? sizes[i] : 0;
    }
    return sum;
  }
}
