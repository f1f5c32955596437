package io.troupe.core.audit;

import io.troupe.core.run.Ledger;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A number for each {@link AuditCounter}. */
public final class AuditCounters {
  private final Map<AuditCounter, Long> counts = new EnumMap<>(AuditCounter.class);

  /** What a state says of itself. */
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
    return tally;
  }

  void add(AuditCounter entry, long more) {
    counts.merge(entry, more, Long::sum);
  }

  /** How many. */
  public long of(AuditCounter entry) {
    return counts.getOrDefault(entry, 0L);
  }

  long sum(List<AuditCounter> entries) {
    long sum = 0;
    for (AuditCounter entry : entries) {
      sum += of(entry);
    }
    return sum;
  }

  AuditCounters copy() {
    AuditCounters copy = new AuditCounters();
    copy.counts.putAll(counts);
    return copy;
  }

  boolean same(AuditCounters other) {
    return Arrays.stream(AuditCounter.values()).allMatch(entry -> of(entry) == other.of(entry));
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
