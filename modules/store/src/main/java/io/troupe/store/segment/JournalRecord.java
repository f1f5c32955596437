package io.troupe.store.segment;

import static io.troupe.core.Require.require;

/**
 * One record of a journal: the unit that is written whole or not at all.
 *
 * @param sequence position in the journal, from 1, without gaps
 * @param epoch of the writer that wrote it, from 1
 * @param payload opaque bytes, handed over, not copied
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record JournalRecord(long sequence, long epoch, byte[] payload) {
  /** Largest payload, in bytes. */
  public static final int MAX_PAYLOAD_BYTES = 64 << 20;

  public JournalRecord {
    require(sequence >= 1, "record numbers start at 1, not %d", sequence);
    require(epoch >= 1, "epochs start at 1, not %d", epoch);
    require(
        payload.length <= MAX_PAYLOAD_BYTES,
        "a journal record holds at most %d bytes, not %d",
        MAX_PAYLOAD_BYTES,
        payload.length);
  }
}
