package io.troupe.sync;

/**
 * The distance of a copy from its run folder.
 *
 * @param objects files and checkpoints that are not stored as the folder has them
 * @param bytes of them that are not stored yet
 * @param since time at which the copy was last complete, or the process began, in milliseconds
 *     since 1970
 * @param problem why nothing is stored at present; "" when it is
 */
public record SyncProgress(int objects, long bytes, long since, String problem) {
  /** Whether everything is stored. */
  public boolean complete() {
    return objects == 0 && problem.isEmpty();
  }
}
