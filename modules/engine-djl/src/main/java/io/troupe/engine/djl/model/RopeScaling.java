package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import java.util.Arrays;

/**
 * The change of rotary frequencies that extends the context beyond the length of the original
 * training: the variants of Hugging Face's {@code rope_scaling}.
 */
public sealed interface RopeScaling {
  /**
   * Returns the increase of the angle from one position to the next, for each pair of coordinates
   * of a head.
   *
   * @param theta base of the wavelengths
   * @param headDim width of a head
   */
  default double[] frequencies(double theta, int headDim) {
    double[] frequencies = new double[headDim / 2];
    Arrays.setAll(frequencies, j -> StrictMath.pow(theta, -2.0 * j / headDim));
    return switch (this) {
      case None() -> frequencies;
      case Linear(double factor) -> {
        Arrays.setAll(frequencies, j -> frequencies[j] / factor);
        yield frequencies;
      }
      case Llama3 llama3 -> llama3.scale(frequencies);
      case Yarn yarn -> yarn.scale(frequencies, theta);
    };
  }

  /** Returns the factor of cosines and sines. */
  default double magnitude() {
    return switch (this) {
      case None _, Linear _, Llama3 _ -> 1;
      case Yarn yarn -> yarn.attentionFactor();
    };
  }

  /** The frequencies as they are (Su et al. 2021). */
  record None() implements RopeScaling {}

  /**
   * Positions divided by a factor (Chen et al. 2023).
   *
   * @param factor 1 or greater
   */
  record Linear(double factor) implements RopeScaling {
    public Linear {
      requireFactor(factor);
    }
  }

  /**
   * The scaling of Llama 3.1: wavelengths up to {@code originalContext / highFrequency} stay, those
   * from {@code originalContext / lowFrequency} on grow by {@code factor}, and between them the two
   * frequencies are mixed in proportion.
   *
   * @param factor 1 or greater
   * @param lowFrequency turns within the original context below which a frequency is divided
   * @param highFrequency turns above which a frequency stays
   * @param originalContext tokens of the context before the extension
   */
  record Llama3(double factor, double lowFrequency, double highFrequency, int originalContext)
      implements RopeScaling {
    public Llama3 {
      requireFactor(factor);
      require(
          lowFrequency > 0 && highFrequency > lowFrequency && Double.isFinite(highFrequency),
          "rope scaling llama3 needs 0 < low_freq_factor (%s) < high_freq_factor (%s)",
          lowFrequency,
          highFrequency);
      requireContext(originalContext);
    }

    private double[] scale(double[] frequencies) {
      double[] scaled = new double[frequencies.length];
      for (int j = 0; j < scaled.length; j++) {
        double turns = originalContext * frequencies[j] / (2 * Math.PI);
        double kept = (turns - lowFrequency) / (highFrequency - lowFrequency);
        kept = Math.clamp(kept, 0, 1);
        scaled[j] = (1 - kept) * frequencies[j] / factor + kept * frequencies[j];
      }
      return scaled;
    }
  }

  /**
   * YaRN (Peng et al. 2023): frequencies with more than {@code betaFast} turns within the original
   * context stay, those with fewer than {@code betaSlow} are divided by {@code factor}, with a
   * linear ramp over the coordinates between.
   *
   * @param factor 1 or greater
   * @param originalContext tokens of the context before the extension
   * @param attentionFactor magnitude of cosines and sines; the paper's is {@link #attention}
   * @param betaFast turns above which a frequency stays
   * @param betaSlow turns below which it is divided
   * @param truncate whether the ramp begins and ends at whole coordinates
   */
  record Yarn(
      double factor,
      int originalContext,
      double attentionFactor,
      double betaFast,
      double betaSlow,
      boolean truncate)
      implements RopeScaling {
    public Yarn {
      requireFactor(factor);
      requireContext(originalContext);
      require(
          attentionFactor > 0 && Double.isFinite(attentionFactor),
          "rope scaling yarn needs an attention_factor above 0, not %s",
          attentionFactor);
      require(
          betaSlow > 0 && betaFast >= betaSlow && Double.isFinite(betaFast),
          "rope scaling yarn needs 0 < beta_slow (%s) <= beta_fast (%s)",
          betaSlow,
          betaFast);
    }

    /** The paper's magnitude for a factor: 0.1 m ln(factor) + 1, and 1 for a factor up to 1. */
    public static double attention(double factor, double m) {
      return factor <= 1 ? 1 : 0.1 * m * StrictMath.log(factor) + 1;
    }

    private double[] scale(double[] frequencies, double theta) {
      int dim = 2 * frequencies.length;
      double low = coordinate(betaFast, dim, theta);
      double high = coordinate(betaSlow, dim, theta);
      if (truncate) {
        low = Math.floor(low);
        high = Math.ceil(high);
      }
      low = Math.max(low, 0);
      high = Math.min(high, (double) dim - 1);
      if (low == high) {
        high += 0.001; // the published code avoids a division by 0 in this way
      }
      double[] scaled = new double[frequencies.length];
      for (int j = 0; j < scaled.length; j++) {
        double divided = Math.clamp((j - low) / (high - low), 0, 1);
        scaled[j] = divided * frequencies[j] / factor + (1 - divided) * frequencies[j];
      }
      return scaled;
    }

    /**
     * Returns the pair of coordinates whose frequency makes a number of turns in the original
     * context.
     */
    private double coordinate(double turns, int dim, double theta) {
      return dim
          * StrictMath.log(originalContext / (turns * 2 * Math.PI))
          / (2 * StrictMath.log(theta));
    }
  }

  private static void requireFactor(double factor) {
    require(
        factor >= 1 && Double.isFinite(factor),
        "a factor of rope scaling is a finite number, 1 or greater, not %s",
        factor);
  }

  private static void requireContext(int originalContext) {
    require(
        originalContext >= 1,
        "original_max_position_embeddings of rope scaling is 1 or greater, not %d",
        originalContext);
  }
}
