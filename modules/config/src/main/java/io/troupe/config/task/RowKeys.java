package io.troupe.config.task;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.tasks.rows.RefusalLimit;

/** The keys of every data set of files: which of its rows are read, and which must be right. */
@Doc("Rows of files")
public record RowKeys(
    @Doc(
            "Configuration that the README of the data declares, or subfolder of the data; `*`"
                + " means all configurations; empty means the usual one.")
        @Default("")
        String subset,
    @Doc(
            "Largest share of the rows that may be refused, because they break a rule, without"
                + " ending the start: they are left out, counted, and named at the start and at the"
                + " end of the run.")
        @Default("0")
        @Range(min = 0, max = 1, maxExclusive = true)
        double maxRefusedShare) {
  /**
   * Returns the limit of refused rows.
   *
   * @param section that has the keys, for messages
   */
  public RefusalLimit refusals(String section) {
    return new RefusalLimit(maxRefusedShare, section + ".max_refused_share");
  }
}
