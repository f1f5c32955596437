package io.troupe.app.soak;

import io.troupe.core.audit.AuditReport;
import io.troupe.core.audit.Entry;
import io.troupe.core.audit.Rule;
import io.troupe.core.audit.Tally;

/**
 * What a soak asks of an audit, in numbers of which all but the first two and the last must be 0.
 *
 * @param steps made, those too that were made again
 * @param undone of them
 * @param lost prompts that were admitted, and neither ended nor are pending
 * @param twice breaches of "each prompt ends once an epoch"
 * @param stale breaches of the bound on the staleness of tokens with loss weight
 * @param refused answers that came late, and were refused
 */
public record SoakAccount(
    long steps, long undone, long lost, long twice, long stale, long refused) {
  /** From the books of an audit. */
  public static SoakAccount of(AuditReport report) {
    Tally stands = report.stands();
    long ended =
        stands.of(Entry.TRAINED)
            + stands.of(Entry.FILTERED)
            + stands.of(Entry.SKIPPED)
            + stands.of(Entry.FAILED);
    return new SoakAccount(
        report.version() + report.undoneSteps(),
        report.undoneSteps(),
        stands.of(Entry.ADMITTED) - ended - report.pending(),
        breaches(report, Rule.EXACTLY_ONCE),
        breaches(report, Rule.STALENESS),
        report.seen().of(Entry.REFUSED));
  }

  private static long breaches(AuditReport report, Rule rule) {
    return report.violations().stream().filter(one -> one.rule() == rule).count();
  }

  /** All of it in a line. */
  public String line() {
    return "%,d steps, %,d of them made again · prompts lost %d · trained twice %d · stale tokens trained on: %d steps · late answers refused %d"
        .formatted(steps, undone, lost, twice, stale, refused);
  }
}
