package io.troupe.store.journal;

import static io.troupe.core.Require.require;

/**
 * Sizes of a journal.
 *
 * @param segmentBytes a segment that has reached this size is followed by a new one
 * @param queueCapacity appends that may wait for the writer's thread
 */
public record JournalSettings(long segmentBytes, int queueCapacity) {
  public JournalSettings {
    require(segmentBytes >= 1, "journal.segment_bytes is 1 or greater, not %d", segmentBytes);
    require(queueCapacity >= 1, "journal.queue_capacity is 1 or greater, not %d", queueCapacity);
  }

  /** Segments of 64 MiB, 4096 waiting appends. */
  public static JournalSettings defaults() {
    return new JournalSettings(64L << 20, 4096);
  }
}
