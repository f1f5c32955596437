package io.troupe.core.advantage;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The amount by which each completion is better than its group, from the rewards alone.
 *
 * <p>With mean and population standard deviation (division by G), or unbiased deviation (by G - 1),
 * over the G rewards of a group:
 *
 * <pre>
 *   STANDARDISED            A_i = (r_i - mean) / max(std, 1e-6)     Shao et al. 2024
 *   STANDARDISED_UNBIASED       = sqrt((G - 1) / G) of that         torch.std, so TRL and verl
 *   CENTRED                 A_i = r_i - mean                        Liu et al. 2025
 *   LEAVE_ONE_OUT           A_i = r_i - mean of the other rewards   Ahmadian et al. 2024, eq. 8
 *                               = G / (G - 1) (r_i - mean)
 *   MEAN_SCALED             A_i = (r_i - mean) / max(mean(v), 1/G)  Tajwar et al. 2026 (MaxRL)
 *   LENGTH_WEIGHTED         A_i = r_i - sum n r / sum n             Hao et al. 2025 (OPO), n tokens
 *   STEP_STANDARDISED       A_i = (r_i - mean') / max(std', 1e-6)   Hu 2025 (REINFORCE++)
 *   GROUP_CENTRED_STEP_SCALED   = (r_i - mean) / max(std'(r - mean), 1e-6)
 *   PARTS_STANDARDISED      A_i = B_i / max(std'(B), 1e-6)          Liu et al. 2026 (GDPO)
 *                           B_i = sum over parts k of w_k (r_ki - mean_k) / max(std_k, 1e-6)
 * </pre>
 *
 * <p>where mean' and std' are over all rewards of the step. Of GDPO's last normalisation the mean
 * is left out: it is 0, because it is 0 over each group.
 *
 * <p>v are the verifier's rewards, without what penalties take from them. MaxRL is written for
 * rewards of 0 and 1, of which a group's mean is 0 or at least 1/G; the bound leaves that case as
 * it is, and keeps the sign and the size of an advantage, at most G times the distance, where
 * rewards are shares or penalties.
 *
 * <p>The arithmetic is on r_i - r_1, so that equal rewards give exactly 0, whatever they are. A
 * group of one has nothing to be compared with: its advantage is 0 under every baseline of groups.
 */
public final class Advantages {
  private static final double SMALLEST_DEVIATION = 1e-6;

  private Advantages() {}

  /**
   * The advantages of a step.
   *
   * @param rewards an array a group, an element a completion, finite
   * @param lengths of the same shape: sampled tokens, 1 or more
   */
  public static List<double[]> of(AdvantageRule rule, StepRewards rewards, List<int[]> lengths) {
    return switch (rule) {
      case Baseline baseline -> of(baseline, rewards, lengths);
      case AdvantageRule.Own own -> own.of(rewards.total(), lengths);
    };
  }

  private static List<double[]> of(Baseline baseline, StepRewards rewards, List<int[]> lengths) {
    return switch (baseline) {
      case MEAN_SCALED -> {
        List<double[]> total = rewards.total();
        List<double[]> verified = rewards.ofVerifier();
        yield IntStream.range(0, total.size())
            .mapToObj(g -> of(baseline, total.get(g), verified.get(g)))
            .toList();
      }
      case PARTS_STANDARDISED -> {
        List<double[]> sums =
            new StepRewards(rewards.parts().stream().map(Advantages::standardised).toList())
                .total();
        yield scaledByStep(sums, joined(sums));
      }
      case STANDARDISED,
          STANDARDISED_UNBIASED,
          CENTRED,
          LEAVE_ONE_OUT,
          LENGTH_WEIGHTED,
          STEP_STANDARDISED,
          GROUP_CENTRED_STEP_SCALED ->
          of(baseline, rewards.total(), lengths);
    };
  }

  private static StepRewards.Part standardised(StepRewards.Part part) {
    return new StepRewards.Part(
        part.weight(),
        part.values().stream().map(group -> of(Baseline.STANDARDISED, group)).toList());
  }

  /** The mean reward of a group, or that of a group with one success where it is greater. */
  private static double atLeastOneOf(double[] rewards) {
    return Math.max(mean(rewards), 1. / rewards.length);
  }

  /** The advantages of a step whose rewards have one part. */
  public static List<double[]> of(Baseline baseline, List<double[]> rewards, List<int[]> lengths) {
    return switch (baseline) {
      case STANDARDISED, STANDARDISED_UNBIASED, CENTRED, LEAVE_ONE_OUT, MEAN_SCALED ->
          rewards.stream().map(group -> of(baseline, group)).toList();
      case LENGTH_WEIGHTED -> {
        List<double[]> all = new ArrayList<>();
        for (int g = 0; g < rewards.size(); g++) {
          all.add(lengthWeighted(rewards.get(g), lengths.get(g)));
        }
        yield all;
      }
      case PARTS_STANDARDISED -> of(baseline, StepRewards.of(rewards), lengths);
      case STEP_STANDARDISED -> scaledByStep(rewards, centred(joined(rewards)));
      case GROUP_CENTRED_STEP_SCALED ->
          scaledByStep(rewards, joined(rewards.stream().map(Advantages::centred).toList()));
    };
  }

  private static double[] joined(List<double[]> groups) {
    return groups.stream().flatMapToDouble(Arrays::stream).toArray();
  }

  /** Cuts centred rewards of a step into its groups, in units of their standard deviation. */
  private static List<double[]> scaledByStep(List<double[]> groups, double[] centred) {
    double scale = Math.max(deviation(centred), SMALLEST_DEVIATION);
    List<double[]> all = new ArrayList<>();
    int first = 0;
    for (double[] group : groups) {
      double[] part = Arrays.copyOfRange(centred, first, first + group.length);
      Arrays.setAll(part, i -> part[i] / scale);
      all.add(part);
      first += group.length;
    }
    return all;
  }

  private static double[] lengthWeighted(double[] rewards, int[] lengths) {
    double[] left = centred(rewards);
    double sum = 0;
    double tokens = 0;
    for (int i = 0; i < left.length; i++) {
      sum += lengths[i] * left[i];
      tokens += lengths[i];
    }
    double baseline = sum / tokens;
    Arrays.setAll(left, i -> left[i] - baseline);
    return left;
  }

  /**
   * The advantages of a group, by a baseline that needs nothing but its rewards.
   *
   * @param rewards of the group's completions, at least one, finite
   * @return one a reward, in order; they sum to 0
   */
  public static double[] of(Baseline baseline, double[] rewards) {
    return of(baseline, rewards, rewards);
  }

  /** Returns the advantages of a group; {@code verified} are the verifier's shares of rewards. */
  private static double[] of(Baseline baseline, double[] rewards, double[] verified) {
    double[] centred = centred(rewards);
    double scale =
        switch (baseline) {
          case STANDARDISED -> Math.max(deviation(centred), SMALLEST_DEVIATION);
          case STANDARDISED_UNBIASED ->
              Math.max(deviation(centred) * unbiased(rewards.length), SMALLEST_DEVIATION);
          case CENTRED -> 1;
          case LEAVE_ONE_OUT -> Math.max(rewards.length - 1., 1) / rewards.length;
          case MEAN_SCALED -> atLeastOneOf(verified);
          case LENGTH_WEIGHTED, STEP_STANDARDISED, GROUP_CENTRED_STEP_SCALED, PARTS_STANDARDISED ->
              throw new IllegalArgumentException(
                  baseline + " needs the lengths, or the rewards, of the whole step");
        };
    for (int i = 0; i < centred.length; i++) {
      centred[i] /= scale;
    }
    return centred;
  }

  /**
   * Whether a group teaches nothing because its rewards are equal: their population standard
   * deviation is below 1e-6, the floor of the advantage's denominator. A group of one is
   * degenerate: it has no other completion to be better than.
   *
   * @param rewards of the group's completions, at least one, finite
   */
  public static boolean degenerate(double[] rewards) {
    return deviation(centred(rewards)) < SMALLEST_DEVIATION;
  }

  private static double[] centred(double[] rewards) {
    require(rewards.length >= 1, "a group has at least one reward");
    double[] centred = new double[rewards.length];
    double sum = 0;
    for (int i = 0; i < rewards.length; i++) {
      if (!Double.isFinite(rewards[i])) { // Nothing is boxed for what never fails.
        throw new IllegalArgumentException(
            "a reward is a finite number; reward %d of the group is %s".formatted(i, rewards[i]));
      }
      centred[i] = rewards[i] - rewards[0];
      sum += centred[i];
    }
    for (int i = 0; i < rewards.length; i++) {
      centred[i] -= sum / rewards.length;
    }
    return centred;
  }

  private static double mean(double[] rewards) {
    return Arrays.stream(rewards).sum() / rewards.length;
  }

  private static double unbiased(int completions) {
    return Math.sqrt(completions / Math.max(completions - 1., 1));
  }

  private static double deviation(double[] centred) {
    double squares = 0;
    for (double c : centred) {
      squares += c * c;
    }
    return Math.sqrt(squares / centred.length);
  }
}
