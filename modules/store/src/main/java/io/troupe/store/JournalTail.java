package io.troupe.store;

import java.nio.file.Path;

/** How a journal ends. */
public sealed interface JournalTail {
  /** After the last byte of a record. */
  record Whole() implements JournalTail {}

  /**
   * In bytes that are no whole record and are followed by none: what a killed process, a full disk
   * or a power loss leaves. Records that were acknowledged (as synced, for a power loss) are not
   * among them.
   *
   * @param file the last segment
   * @param offset bytes of it that are whole records
   * @param bytes how many follow
   * @param reason why they are no record
   */
  record Torn(Path file, long offset, long bytes, String reason) implements JournalTail {}
}
