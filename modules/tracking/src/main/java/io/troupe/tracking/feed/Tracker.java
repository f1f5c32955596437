package io.troupe.tracking.feed;

import java.io.IOException;

/**
 * A place where people look at runs. A tracker is used by one thread. A batch whose sending has
 * failed or was interrupted is sent again, whole, so that sending a batch twice must leave the same
 * as sending it once.
 */
public interface Tracker extends AutoCloseable {
  /**
   * Finds or makes the run there, and describes it.
   *
   * @return the cursor with the run's id there
   * @throws IOException if the tracker cannot take it now
   */
  TrackerCursor open(TrackerCursor cursor) throws IOException, InterruptedException;

  /**
   * Sends a batch.
   *
   * @return the batch's cursor with what the tracker itself keeps in it; to be written before the
   *     next batch
   * @throws IOException if the tracker cannot take it now
   */
  TrackerCursor send(Batch batch) throws IOException, InterruptedException;

  @Override
  void close() throws IOException;
}
