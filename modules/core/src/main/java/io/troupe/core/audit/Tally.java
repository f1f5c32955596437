package io.troupe.core.audit;

import io.troupe.core.run.Ledger;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A number for each {@link Entry}. */
public final class Tally {
  private final Map<Entry, Long> counts = new EnumMap<>(Entry.class);

  /** What a state says of itself. */
  static Tally of(Ledger ledger) {
    Tally tally = new Tally();
    tally.add(Entry.ADMITTED, ledger.admitted());
    tally.add(Entry.TRAINED, ledger.trained());
    tally.add(Entry.FILTERED, ledger.filtered());
    tally.add(Entry.SKIPPED, ledger.skipped());
    tally.add(Entry.FAILED, ledger.failed());
    tally.add(Entry.GRANTED, ledger.granted());
    tally.add(Entry.STALE, ledger.stale());
    tally.add(Entry.EXPIRED, ledger.expired());
    tally.add(Entry.LOST, ledger.lost());
    tally.add(Entry.BROKEN, ledger.failures());
    tally.add(Entry.OUTAGES, ledger.outages());
    tally.add(Entry.CANCELLED, ledger.cancelled());
    tally.add(Entry.REFUSED, ledger.refused());
    return tally;
  }

  void add(Entry entry, long more) {
    counts.merge(entry, more, Long::sum);
  }

  /** How many. */
  public long of(Entry entry) {
    return counts.getOrDefault(entry, 0L);
  }

  long sum(List<Entry> entries) {
    return entries.stream().mapToLong(this::of).sum();
  }

  Tally copy() {
    Tally copy = new Tally();
    copy.counts.putAll(counts);
    return copy;
  }

  boolean same(Tally other) {
    return Arrays.stream(Entry.values()).allMatch(entry -> of(entry) == other.of(entry));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Entry entry : Entry.values()) {
      text.append(text.isEmpty() ? "" : " ")
          .append(entry.name().toLowerCase(Locale.ROOT))
          .append('=')
          .append(of(entry));
    }
    return text.toString();
  }
}
