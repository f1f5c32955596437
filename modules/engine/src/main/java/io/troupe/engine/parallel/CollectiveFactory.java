package io.troupe.engine.parallel;

import java.io.IOException;
import java.util.List;

/** Makes the connections of groups of ranks that are threads of this process. */
@FunctionalInterface
public interface CollectiveFactory {
  /**
   * A new group.
   *
   * @param ranks how many
   * @return a connection for each rank, in order; whoever uses them closes them
   */
  List<Collective> open(int ranks) throws IOException;

  /** Told that a group has lost a rank, and that its step is abandoned. */
  default void lost(String reason) {}
}
