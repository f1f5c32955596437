package io.troupe.config.task;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.RelativeToFile;

/** The places of published data sets. */
public record DataSection(
    @Doc(
            "Folder of fetched data sets, shared by all runs of a machine; empty means"
                + " `$TROUPE_CACHE/datasets`, else `~/.cache/troupe/datasets`. Models are in"
                + " `models` beside the latter.")
        @Default("")
        @RelativeToFile
        String cache,
    @Inline S3Keys s3,
    @Doc(
            "Whether data sets and models are fetched from the Hugging Face hub (`HF_ENDPOINT`, `HF_TOKEN`).")
        @Default("true")
        boolean hub,
    @Doc(
            "What becomes of prompts whose longest completion does not fit behind them in"
                + " policy.context_length: `refuse` starts no run, `drop` leaves them out and says"
                + " how many.")
        @Default("refuse")
        Overlong overlong) {
  /** The treatment of prompts that are too long for the policy. */
  public enum Overlong {
    REFUSE,
    DROP
  }
}
