package io.troupe.store;

/**
 * What opening a journal for writing found and did.
 *
 * @param epoch of the new writer: one more than any before
 * @param records whole records found; the next append is number {@code records + 1}
 * @param fenced records of fenced writers found and refused
 * @param tail how the journal ended; a torn tail has been cut off
 */
public record JournalRecovery(long epoch, long records, long fenced, JournalTail tail) {
  /** Bytes cut off the end; 0 after an orderly stop. */
  public long bytesDropped() {
    return switch (tail) {
      case JournalTail.Whole _ -> 0;
      case JournalTail.Torn torn -> torn.bytes();
    };
  }

  /** Why bytes were cut off; "" when none were. */
  public String reason() {
    return switch (tail) {
      case JournalTail.Whole _ -> "";
      case JournalTail.Torn torn -> torn.reason();
    };
  }
}
