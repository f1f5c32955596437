package io.troupe.store.segment;

import static io.troupe.core.Require.require;

/**
 * The place in a journal behind one of its records.
 *
 * @param segment number of the segment that holds the record
 * @param offset of the first byte behind the record, in the segment as it was written
 * @param sequence number of the record, 0 before the first
 * @param epoch of the writer that wrote it
 */
public record JournalPosition(int segment, long offset, long sequence, long epoch) {
  public JournalPosition {
    require(segment >= 1, "segments are numbered from 1, not %d", segment);
    require(
        offset >= SegmentHeader.BYTES,
        "a segment's records begin at byte %d, not %d",
        SegmentHeader.BYTES,
        offset);
    require(sequence >= 0, "record numbers are 0 or greater, not %d", sequence);
    require(epoch >= 1, "epochs start at 1, not %d", epoch);
  }
}
