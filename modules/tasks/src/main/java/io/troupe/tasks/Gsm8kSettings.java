package io.troupe.tasks;

import static io.troupe.core.Require.require;

import java.nio.file.Path;

/**
 * Which GSM8K prompts there are.
 *
 * @param file lines of JSON objects with {@code question} and {@code answer}, plain or gzip
 * @param heldOut where the prompts for evaluation come from
 * @param maxPromptCharacters longer prompts, template included, are left out
 * @param maxSolutionCharacters prompts with longer solutions are left out
 * @param maxRows at most so many prompts of each file, the first that are not left out
 */
public record Gsm8kSettings(
    Path file, HeldOut heldOut, int maxPromptCharacters, int maxSolutionCharacters, int maxRows) {
  /** Where the prompts for evaluation come from. */
  public sealed interface HeldOut {
    /**
     * A share of the file, chosen by the seed.
     *
     * @param share in [0, 1)
     */
    record Share(double share, long seed) implements HeldOut {
      public Share {
        PromptSets.requireShare(share);
      }
    }

    /** A second file of the same format. */
    record SecondFile(Path file) implements HeldOut {}
  }

  public Gsm8kSettings {
    require(
        maxPromptCharacters >= 1,
        "the limit of prompt characters is 1 or greater, not %d",
        maxPromptCharacters);
    require(
        maxSolutionCharacters >= 1,
        "the limit of solution characters is 1 or greater, not %d",
        maxSolutionCharacters);
    require(maxRows >= 1, "the limit of rows is 1 or greater, not %d", maxRows);
  }

  /** All of a file, a fifth of it held out. */
  public static Gsm8kSettings all(Path file, long seed) {
    return new Gsm8kSettings(
        file,
        new HeldOut.Share(0.2, seed),
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE);
  }
}
