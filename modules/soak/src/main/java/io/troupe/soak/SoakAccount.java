package io.troupe.soak;

import io.troupe.core.audit.AuditCounter;
import io.troupe.core.audit.AuditCounters;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.audit.AuditRule;

/**
 * The numbers that a soak asks of an audit, of which all but the first two and the last must be 0.
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
  /** From the counters of an audit. */
  public static SoakAccount of(AuditReport report) {
    AuditCounters counters = report.stands();
    long ended =
        counters.of(AuditCounter.TRAINED)
            + counters.of(AuditCounter.FILTERED)
            + counters.of(AuditCounter.SKIPPED)
            + counters.of(AuditCounter.FAILED);
    return new SoakAccount(
        report.version() + report.undoneSteps(),
        report.undoneSteps(),
        counters.of(AuditCounter.ADMITTED) - ended - report.pending(),
        breaches(report, AuditRule.EXACTLY_ONCE),
        breaches(report, AuditRule.STALENESS),
        report.seen().of(AuditCounter.REFUSED));
  }

  private static long breaches(AuditReport report, AuditRule rule) {
    return report.violations().stream().filter(one -> one.rule() == rule).count();
  }

  /** Returns all numbers in a line. */
  public String line() {
    return "%,d steps, %,d of them made again · prompts lost %d · trained twice %d · stale tokens trained on: %d steps · late answers refused %d"
        .formatted(steps, undone, lost, twice, stale, refused);
  }
}
