package io.troupe.store.journal;

import java.nio.file.Path;

/** The end of a journal. */
public sealed interface JournalTail {
  /** After the last byte of a record. */
  record Whole() implements JournalTail {}

  /**
   * In bytes that begin with no whole record: what a killed process, a full disk or a power loss
   * leaves. Records that were acknowledged (as synced, for a power loss) are not among them.
   *
   * @param file the last segment
   * @param offset bytes of it that are whole records
   * @param bytes number of bytes that follow
   * @param reason why they are no record
   * @param holed whether an intact record is among them: a file system need not write pages in
   *     order, so that a power loss may take an earlier one and leave a later one
   */
  record Torn(Path file, long offset, long bytes, String reason, boolean holed)
      implements JournalTail {}
}
