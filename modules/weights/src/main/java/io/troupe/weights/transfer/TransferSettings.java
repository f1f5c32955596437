package io.troupe.weights.transfer;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * The time after which a transfer is taken for stuck. A connection may be slow for {@code stall};
 * then it is closed, and the receiver continues with another source at the same position.
 *
 * @param connect until a connection is made and both sides have shown their secret
 * @param stall within which {@code slowest} times its length must arrive
 * @param slowest bytes a second below which a source is left for another one
 * @param relayWait time for which a server waits for a chunk that is on its way to itself
 * @param total after which a transfer is given up; the next version is another transfer
 * @param window chunks asked for ahead of those that came
 * @param connections a server takes at most; more are refused
 * @param threads of a node that code deltas and make chunks of them
 */
public record TransferSettings(
    Duration connect,
    Duration stall,
    long slowest,
    Duration relayWait,
    Duration total,
    int window,
    int connections,
    int threads) {
  private static final int LEAST_WINDOW = 8;

  /** Cores of a host for each of its threads: the others sample, train and verify. */
  private static final int CORES_A_THREAD = 4;

  /** More threads would wait for the one file that they write. */
  private static final int MOST_THREADS = 8;

  private static final int DEFAULT_CONNECTIONS = 128;

  public TransferSettings {
    require(connect.isPositive(), "the time to connect is above 0, not %s", connect);
    require(stall.isPositive(), "the time a transfer may stall is above 0, not %s", stall);
    require(slowest >= 1, "the slowest source sends 1 byte a second or more, not %d", slowest);
    require(
        relayWait.compareTo(stall) < 0,
        "a server waits for less (%s) than a receiver takes for a stall (%s)",
        relayWait,
        stall);
    require(
        total.compareTo(stall) > 0, "a transfer (%s) takes longer than a stall (%s)", total, stall);
    require(window >= 1, "a receiver asks for 1 chunk or more, not %d", window);
    require(connections >= 1, "a server takes 1 connection or more, not %d", connections);
    require(threads >= 1, "deltas take 1 thread or more, not %d", threads);
  }

  /** Returns how many deltas may wait for a thread, or for their turn to be sent. */
  int ahead() {
    return 2 * threads;
  }

  /** For a network of 1 Gbit/s and more, with as many threads as this host can spare. */
  public static TransferSettings usual() {
    return usual(0);
  }

  /**
   * For a network of 1 Gbit/s and more.
   *
   * @param threads for deltas; 0 means one for each four cores of this host, from 1 to 8
   */
  public static TransferSettings usual(int threads) {
    int spared = Runtime.getRuntime().availableProcessors() / CORES_A_THREAD;
    int count = threads > 0 ? threads : Math.clamp(spared, 1, MOST_THREADS);
    return new TransferSettings(
        Duration.ofSeconds(5),
        Duration.ofSeconds(5),
        8L << 20,
        Duration.ofSeconds(2),
        Duration.ofMinutes(15),
        Math.max(LEAST_WINDOW, 2 * count),
        DEFAULT_CONNECTIONS,
        count);
  }
}
