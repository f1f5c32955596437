package io.troupe.cluster.weights;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** How a request for weights ended. */
public sealed interface Fetched {
  /** They are here. */
  record Ready(CachedVersion version, Report report) implements Fetched {}

  /** They were not fetched, because newer ones were asked for meanwhile. */
  record Overtaken(WeightRef by) implements Fetched {}

  /** No source could give them; the next version is another attempt. */
  record Failed(String reason, Report report) implements Fetched {}

  /**
   * What it took.
   *
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param corrupt chunks that arrived damaged, and were asked for again
   * @param troubles sources that were left, in order
   */
  record Report(long fetched, long reused, int corrupt, Duration took, List<Trouble> troubles) {
    /** Of weights that were here already. */
    static final Report NONE = new Report(0, 0, 0, Duration.ZERO, List.of());

    public Report {
      troubles = List.copyOf(troubles);
    }
  }

  /** Why a source was left for another. */
  record Trouble(InetSocketAddress source, String reason) {
    static final String ABSENT = "does not have them";
    static final String EVICTED = "has them no more";

    /** Whether it is the source's fault, and not only that it lacks these weights. */
    public boolean faulty() {
      return !reason.equals(ABSENT) && !reason.equals(EVICTED);
    }
  }
}
