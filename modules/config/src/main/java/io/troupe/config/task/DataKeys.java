package io.troupe.config.task;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.rows.RefusalLimit;

/** The source of a data set's rows, and the rows that are taken. */
@Doc("Rows of a data set")
public record DataKeys(
    @Doc(
            "File or folder with the data: JSON Lines, a JSON array or CSV (`.gz` allowed),"
                + " Parquet, Arrow, or a Hugging Face folder; a relative path starts from the"
                + " folder of the configuration file. Empty means the cache, then S3, then the"
                + " hub.")
        @Default("")
        @RelativeToFile
        String file,
    @Doc("Part of a folder to train on; of MBPP, also of a file.") @Default("train") String split,
    @Doc("Share of the rows kept for evaluation, never trained on.")
        @Default("0.2")
        @Range(min = 0, max = 1, maxExclusive = true)
        double heldOutShare,
    @Doc("File or folder kept for evaluation instead of a share; empty means none.")
        @Default("")
        @RelativeToFile
        String heldOutFile,
    @Doc("Part of the data kept for evaluation instead of a share; empty means none.") @Default("")
        String heldOutSplit,
    @Doc(
            value = "Leaves out longer prompts, template included; 0 means no limit.",
            unit = "characters")
        @Default("0")
        @Range(min = 0)
        int maxPromptCharacters,
    @Doc(
            value = "Leaves out rows with longer worked solutions; 0 means no limit.",
            unit = "characters")
        @Default("0")
        @Range(min = 0)
        int maxSolutionCharacters,
    @Doc(
            value =
                "Most prompts taken, the first that fit, or the first of the order file; 0 means"
                    + " all.",
            unit = "rows")
        @Default("0")
        @Range(min = 0)
        int rows,
    @Inline RowKeys form)
    implements Validated {
  /** Whether there are prompts to evaluate on. */
  boolean holdsOut() {
    return heldOutShare > 0 || !heldOutFile.isEmpty() || !heldOutSplit.isEmpty();
  }

  /** The limits of length and number. */
  public LengthLimits cut() {
    return new LengthLimits(limit(maxPromptCharacters), limit(maxSolutionCharacters), limit(rows));
  }

  /** Returns the configuration of the data, or its subfolder. */
  public String subset() {
    return form.subset();
  }

  /** The limit of refused rows. */
  public RefusalLimit refusals() {
    return form.refusals("task");
  }

  private static int limit(int zeroMeansNone) {
    return zeroMeansNone == 0 ? Integer.MAX_VALUE : zeroMeansNone;
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("held_out_file", "held_out_split")
        .require(
            () -> heldOutFile.isEmpty() || heldOutSplit.isEmpty(),
            "names what is held out, and held_out_split does too",
            "remove one of the two");
  }
}
