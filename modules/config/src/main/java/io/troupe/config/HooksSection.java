package io.troupe.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;

/** Programs of the user that a run starts. */
public record HooksSection(
    @Doc("After each checkpoint; its argument is the checkpoint's folder.") @Default("")
        String checkpoint,
    @Doc("After each step with an evaluation; its argument is the run folder.") @Default("")
        String evaluation,
    @Doc("When the run's process ends in order; its argument is the run folder.") @Default("")
        String end,
    @Doc("Time limit of each; the end of the run waits that long for those that are left.")
        @Default("10m")
        @Range(min = 0, minExclusive = true)
        Duration timeout) {
  /** Whether any is set. */
  public boolean any() {
    return !(checkpoint.isEmpty() && evaluation.isEmpty() && end.isEmpty());
  }
}
