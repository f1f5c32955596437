package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** The run as a whole. */
public record RunSection(
    @Doc("Of weights, prompt order, held-out split and sampling: the source of all randomness.")
        @Default("1")
        long seed,
    @Doc("Folder that gets one folder a run; a relative path starts from the working directory.")
        @Default("runs")
        Path folder,
    @Doc(
            "The date and time that chat templates see (`strftime_now`), such as"
                + " `2026-11-22T18:00:00+01:00`; empty means the start of the run, which its folder"
                + " keeps: a resumed run, and each of its processes, sees the same.")
        @Default("")
        String date,
    @Doc("How long ^C or SIGTERM waits for the groups in flight before it gives them back.")
        @Default("20s")
        @Range(min = 0)
        Duration drainTimeout,
    @Inline SyncKeys sync)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("date")
        .require(
            () -> date.isEmpty() || parsed().isPresent(),
            "must be a date and time with its offset",
            "write it as 2026-11-22T18:00:00+01:00, or leave it out");
  }

  private Optional<OffsetDateTime> parsed() {
    try {
      return Optional.of(OffsetDateTime.parse(date));
    } catch (DateTimeParseException none) {
      return Optional.empty();
    }
  }

  /** Returns the clock of chat templates: the present clock where the run has no date yet. */
  public Clock clock() {
    return parsed()
        .map(at -> Clock.fixed(at.toInstant(), at.getOffset()))
        .orElseGet(() -> Clock.system(ZoneId.systemDefault()));
  }
}
