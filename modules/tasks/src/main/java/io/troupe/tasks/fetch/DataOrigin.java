package io.troupe.tasks.fetch;

import java.io.IOException;
import java.nio.file.Path;

/** A place that data sets are fetched from. */
public interface DataOrigin {
  /** Returns the place where the origin looks for a data set, for messages. */
  String place(SplitRef wanted);

  /**
   * Fetches all files of a split.
   *
   * @param into an empty folder that only this call uses; after a failure the caller deletes it
   * @return whether the place has the data set
   * @throws IOException if the place cannot be reached, or the files are not whole
   */
  boolean fetch(SplitRef wanted, Path into) throws IOException;
}
