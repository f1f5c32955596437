package io.troupe.core.audit;

import io.troupe.core.run.group.Ledger;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A number for each {@link AuditCounter}. */
@SuppressWarnings("EnumOrdinal") // an index that never leaves this file
public final class AuditCounters {
  private final long[] counts;

  AuditCounters() {
    this(new long[AuditCounter.values().length]);
  }

  private AuditCounters(long[] counts) {
    this.counts = counts;
  }

  /** Returns the counts that a state's ledger has. */
  static AuditCounters of(Ledger ledger) {
    AuditCounters tally = new AuditCounters();
    tally.add(AuditCounter.ADMITTED, ledger.admitted());
    tally.add(AuditCounter.TRAINED, ledger.trained());
    tally.add(AuditCounter.FILTERED, ledger.filtered());
    tally.add(AuditCounter.SKIPPED, ledger.skipped());
    tally.add(AuditCounter.FAILED, ledger.failed());
    tally.add(AuditCounter.GRANTED, ledger.granted());
    tally.add(AuditCounter.STALE, ledger.stale());
    tally.add(AuditCounter.EXPIRED, ledger.expired());
    tally.add(AuditCounter.LOST, ledger.lost());
    tally.add(AuditCounter.BROKEN, ledger.failures());
    tally.add(AuditCounter.OUTAGES, ledger.outages());
    tally.add(AuditCounter.CANCELLED, ledger.cancelled());
    tally.add(AuditCounter.REFUSED, ledger.refused());
    tally.add(AuditCounter.REUSED, ledger.reused());
    return tally;
  }

  void add(AuditCounter entry, long more) {
    counts[entry.ordinal()] += more;
  }

  /** Returns the value of a counter. */
  public long of(AuditCounter entry) {
    return counts[entry.ordinal()];
  }

  long sum(List<AuditCounter> entries) {
    long sum = 0;
    for (int i = 0; i < entries.size(); i++) {
      sum += of(entries.get(i));
    }
    return sum;
  }

  AuditCounters copy() {
    return new AuditCounters(counts.clone());
  }

  boolean same(AuditCounters other) {
    return Arrays.equals(counts, other.counts);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (AuditCounter entry : AuditCounter.values()) {
      text.append(text.isEmpty() ? "" : " ")
          .append(entry.name().toLowerCase(Locale.ROOT))
          .append('=')
          .append(of(entry));
    }
    return text.toString();
  }
}
