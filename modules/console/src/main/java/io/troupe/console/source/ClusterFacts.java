package io.troupe.console.source;

import java.util.List;
import java.util.OptionalLong;

/** The facts that a coordinator knows of its cluster; a run in one process has none. */
public interface ClusterFacts {
  /** The nodes that work for the run. */
  List<NodeFacts> nodes();

  /**
   * Whole days until the certificate of this host ends, negative once it has; empty where there is
   * none, or it cannot be read.
   */
  default OptionalLong certificateDays() {
    return OptionalLong.empty();
  }
}
