package io.troupe.weights.transfer;

import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.WeightRef;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** The outcome of a request for weights. */
public sealed interface FetchOutcome {
  /** The weights are in the cache. */
  record Ready(CachedVersion version, TransferStats report) implements FetchOutcome {}

  /** The weights were not fetched, because newer ones were requested meanwhile. */
  record Superseded(WeightRef by) implements FetchOutcome {}

  /** No source had the weights; the next version is another attempt. */
  record Failed(String reason, TransferStats report) implements FetchOutcome {}

  /**
   * The cost of a transfer.
   *
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param corrupt chunks that arrived damaged, and were requested again
   * @param failures sources that were left, in order
   */
  record TransferStats(
      long fetched, long reused, int corrupt, Duration took, List<SourceFailure> failures) {
    /** The cost of weights that were in the cache already. */
    static final TransferStats NONE = new TransferStats(0, 0, 0, Duration.ZERO, List.of());

    public TransferStats {
      failures = List.copyOf(failures);
    }
  }

  /** The reason why a source was left for another. */
  record SourceFailure(InetSocketAddress source, String reason) {
    static final String ABSENT = "does not have them";
    static final String EVICTED = "has them no more";

    /** Whether the source is at fault, and does not only lack these weights. */
    public boolean faulty() {
      return !reason.equals(ABSENT) && !reason.equals(EVICTED);
    }
  }
}
