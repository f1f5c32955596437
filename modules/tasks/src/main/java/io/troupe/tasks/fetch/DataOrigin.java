package io.troupe.tasks.fetch;

import java.io.IOException;
import java.nio.file.Path;

/** A place that data sets are fetched from. */
public interface DataOrigin {
  /** Where it looks for a data set, for messages. */
  String place(SplitRef wanted);

  /**
   * Fetches all files of a split.
   *
   * @param into an empty folder of this call alone; what is in it after a failure is thrown away
   * @return whether the place has the data set
   * @throws IOException if the place cannot be reached, or what came is not whole
   */
  boolean fetch(SplitRef wanted, Path into) throws IOException;
}
