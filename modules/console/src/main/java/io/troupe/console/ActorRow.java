package io.troupe.console;

import java.util.List;

/**
 * An actor as its mailbox tells.
 *
 * @param depth messages that wait
 * @param oldestWaitMillis how long the first of them has; 0 when none waits
 * @param perSecond messages handled a second, over the last ten seconds
 * @param restarts since the process began
 * @param lastError its last failure; "" for none
 */
public record ActorRow(
    String path,
    int depth,
    long oldestWaitMillis,
    long handled,
    double perSecond,
    long restarts,
    String lastError,
    List<MessageRow> messages) {
  /**
   * One type of message.
   *
   * @param p50Micros half were handled within this many microseconds
   * @param p99Micros 99 of 100 were
   * @param waitP99Micros 99 of 100 waited at most this long
   */
  public record MessageRow(
      String type, long count, long p50Micros, long p99Micros, long waitP99Micros) {}
}
