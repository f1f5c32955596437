package io.troupe.telemetry.view;

/**
 * The copy of a run folder in a store of objects.
 *
 * @param place place of the copy; "" if the run has none
 * @param objects files and checkpoints that are not stored as the folder has them
 * @param bytes of them that are not stored yet
 * @param since time at which the copy was last complete, or the process began, in milliseconds
 *     since 1970
 * @param problem why nothing is stored at present; "" when it is
 */
public record CopyView(String place, int objects, long bytes, long since, String problem) {
  static final CopyView NONE = new CopyView("", 0, 0, 0, "");

  /** Returns the time for which the copy has not been complete. */
  public double ageSeconds(long now) {
    return objects == 0 && problem.isEmpty() ? 0 : Math.max(0, now - since) / 1000.0;
  }
}
