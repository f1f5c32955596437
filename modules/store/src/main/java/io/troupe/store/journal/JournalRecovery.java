package io.troupe.store.journal;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The findings and repairs when a journal was opened for writing.
 *
 * @param epoch of the new writer: one more than any before
 * @param records number of the last whole record; the next append is number {@code records + 1}
 * @param tail end of the journal; a torn tail has been cut off
 */
public record JournalRecovery(long epoch, long records, JournalTail tail) {
  /** Bytes cut off the end; 0 after an orderly stop. */
  public long bytesDropped() {
    return switch (tail) {
      case JournalTail.Whole _ -> 0;
      case JournalTail.Torn torn -> torn.bytes();
    };
  }

  /** Returns the reason why bytes were cut off; "" when none were. */
  public String reason() {
    return switch (tail) {
      case JournalTail.Whole _ -> "";
      case JournalTail.Torn torn -> torn.reason();
    };
  }

  /** Returns the file of the bytes that were cut off, if records are among them. */
  public Optional<Path> copy() {
    return tail instanceof JournalTail.Torn torn && torn.holed()
        ? Optional.of(copyOf(torn))
        : Optional.empty();
  }

  static Path copyOf(JournalTail.Torn torn) {
    return torn.file()
        .resolveSibling("torn-%s-at-%d".formatted(torn.file().getFileName(), torn.offset()));
  }
}
