package io.troupe.engine.parallel;

import java.io.IOException;
import java.util.List;

/** Creates the connections of groups of ranks that are threads of this process. */
@FunctionalInterface
public interface CollectiveFactory {
  /**
   * Opens a new group.
   *
   * @param ranks number of ranks
   * @return a connection for each rank, in order; the caller closes them
   */
  List<Collective> open(int ranks) throws IOException;

  /** Receives the news that a group has lost a rank and that its step is abandoned. */
  default void lost(String reason) {}
}
