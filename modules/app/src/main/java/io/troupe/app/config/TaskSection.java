package io.troupe.app.config;

import io.troupe.app.config.binding.Checked;
import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import io.troupe.app.config.binding.RelativeToFile;
import io.troupe.app.config.binding.Rules;
import io.troupe.app.config.binding.Variant;
import io.troupe.tasks.ArithmeticSettings;
import io.troupe.tasks.ArithmeticSettings.Operation;
import io.troupe.tasks.Gsm8kSettings;
import io.troupe.verifiers.Gsm8kVerifier.Mode;
import java.nio.file.Path;

/** What the policy learns: prompts, and the verifier of its answers. */
@Variant(key = "name", meaning = "Where prompts come from and what answer is right.")
public sealed interface TaskSection {
  /** Share of the prompts never trained on. */
  double heldOutShare();

  /** How the numbers of a calculation are written. */
  enum Format {
    /** {@code 7+45=} is answered {@code 52}. */
    PLAIN,
    /** Leading zeros up to the width of the greatest number: {@code 07+45=}, {@code 052}. */
    PADDED,
    /** The answer's digits stand least significant first: {@code 7+45=}, {@code 25}. */
    REVERSED,
    /** Both: {@code 07+45=}, {@code 250}. */
    PADDED_REVERSED
  }

  /** Every pair of numbers of a range. */
  @Doc("Calculations with two operands: every pair of numbers between `min` and `max`.")
  record Arithmetic(
      @Doc("Share of the pairs kept for evaluation, never trained on.")
          @Default("0.2")
          @Range(min = 0, max = 1, maxExclusive = true)
          double heldOutShare,
      @Doc("Which calculation.") @Default("addition") Operation operation,
      @Doc("Smallest operand.") @Default("0") @Range(min = 0, max = 9999) int min,
      @Doc("Largest operand.") @Default("99") @Range(min = 0, max = 9999) int max,
      @Doc(
              "How numbers are written: `plain` asks `7+45=` and wants `52`; `padded` asks `07+45=`"
                  + " and wants `052`; `reversed` wants `25`, the least significant digit first.")
          @Default("plain")
          Format format)
      implements TaskSection, Checked {
    /** Most pairs that are kept in memory. */
    private static final long MAX_PAIRS = 1_000_000;

    /** The task's own settings. */
    public ArithmeticSettings settings(long seed) {
      boolean padded = format == Format.PADDED || format == Format.PADDED_REVERSED;
      boolean reversed = format == Format.REVERSED || format == Format.PADDED_REVERSED;
      return new ArithmeticSettings(operation, min, max, padded, reversed, heldOutShare, seed);
    }

    private long pairs() {
      return (long) (max - min + 1) * (max - min + 1);
    }

    @Override
    public void check(Rules rules) {
      rules
          .on("max", "min")
          .require(() -> max >= min, "must be min (%d) or greater".formatted(min), "raise it");
      rules
          .on("max", "min")
          .require(
              () -> max < min || pairs() <= MAX_PAIRS,
              "makes %,d pairs, and at most %,d fit".formatted(pairs(), MAX_PAIRS),
              "lower it, or raise min");
    }
  }

  /** Grade-school word problems (Cobbe et al. 2021). */
  @Doc("Grade-school word problems, from a JSON Lines file with `question` and `answer`.")
  record Gsm8k(
      @Doc("Share of the problems kept for evaluation, never trained on.")
          @Default("0.2")
          @Range(min = 0, max = 1, maxExclusive = true)
          double heldOutShare,
      @Doc(
              "JSON Lines, `.gz` allowed; a relative path starts from the folder of the"
                  + " configuration file.")
          @RelativeToFile
          Path file,
      @Doc(
              value = "Leaves out longer prompts, template included; 0 means no limit.",
              unit = "characters")
          @Default("0")
          @Range(min = 0)
          int maxPromptCharacters,
      @Doc(
              value = "Leaves out problems with longer worked solutions; 0 means no limit.",
              unit = "characters")
          @Default("0")
          @Range(min = 0)
          int maxSolutionCharacters,
      @Doc(
              value = "Most problems taken from the file, the first that fit; 0 means all.",
              unit = "rows")
          @Default("0")
          @Range(min = 0)
          int rows,
      @Doc(
              "How the answer is read: `strict` is the sentence `The answer is N.`, the one to train"
                  + " with; `flexible` is the last number of the completion; `any` is strict where"
                  + " that finds something, else flexible.")
          @Default("strict")
          Mode verifierMode)
      implements TaskSection {
    /** The task's own settings. */
    public Gsm8kSettings settings(long seed) {
      return new Gsm8kSettings(
          file,
          new Gsm8kSettings.HeldOut.Share(heldOutShare, seed),
          limit(maxPromptCharacters),
          limit(maxSolutionCharacters),
          limit(rows));
    }

    private static int limit(int zeroMeansNone) {
      return zeroMeansNone == 0 ? Integer.MAX_VALUE : zeroMeansNone;
    }
  }

  /** The name that chooses it. */
  default String name() {
    return switch (this) {
      case Arithmetic _ -> "arithmetic";
      case Gsm8k _ -> "gsm8k";
    };
  }
}
