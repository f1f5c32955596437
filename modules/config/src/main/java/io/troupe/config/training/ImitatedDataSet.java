package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.config.task.RowKeys;
import io.troupe.tasks.rows.RefusalLimit;
import java.util.List;

/** A data set whose rows are imitated. */
@Doc("Data set to imitate")
public record ImitatedDataSet(
    @Doc(
            "File or folder with the rows: JSON Lines or a JSON array (`.gz` allowed), Parquet or"
                + " Arrow; a relative path starts from the folder of the configuration file. Or a"
                + " file or folder on S3, `s3://bucket/rows.jsonl`, which is fetched once a"
                + " machine.")
        @RelativeToFile
        String file,
    @Doc("Sources of the rows that are taken; none takes all.") List<String> sources,
    @Doc("Field that says where a row comes from.") @Default("source") String sourceField,
    @Doc("Field of a conversation: messages with `role` and `content`.") @Default("messages")
        String messagesField,
    @Doc("Field of a prompt, in rows without messages: a text, or messages.") @Default("prompt")
        String promptField,
    @Doc("Field of what follows the prompt: a text, or messages.") @Default("completion")
        String completionField,
    @Doc(
            "What becomes of texts: `raw` takes them as they are, `chat` takes them as messages of"
                + " a user and the assistant, which the policy's chat template joins.")
        @Default("raw")
        TextForm template,
    @Doc(value = "Most rows taken, the first ones; 0 means all.", unit = "rows")
        @Default("0")
        @Range(min = 0)
        int rows,
    @Doc("Share of the rows whose loss is measured and never trained on.")
        @Default("0.0")
        @Range(min = 0, max = 1, maxExclusive = true)
        double heldOutShare,
    @Doc("File or folder of such rows instead of a share; empty means none.")
        @Default("")
        @RelativeToFile
        String heldOutFile,
    @Inline RowKeys form)
    implements Validated {
  /** The form in which texts are trained on. */
  public enum TextForm {
    RAW,
    CHAT
  }

  /** Returns the configuration of the data, or its subfolder. */
  public String subset() {
    return form.subset();
  }

  /** The limit of refused rows. */
  public RefusalLimit refusals() {
    return form.refusals("datasets[]");
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("held_out_share", "held_out_file")
        .require(
            () -> heldOutShare == 0 || heldOutFile.isEmpty(),
            "must be 0 beside held_out_file",
            "remove one of the two");
  }
}
