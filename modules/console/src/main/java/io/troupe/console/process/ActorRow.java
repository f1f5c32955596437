package io.troupe.console.process;

import java.util.List;

/**
 * An actor, as its mailbox shows it.
 *
 * @param jvm the process it is in; "" for the one that reports
 * @param depth messages that wait
 * @param oldestWaitMillis time for which the first message has waited; 0 when none waits
 * @param perSecond messages handled a second, over the last ten seconds
 * @param restarts since the process began
 * @param lastError last failure of the actor; "" for none
 */
public record ActorRow(
    String jvm,
    String path,
    int depth,
    long oldestWaitMillis,
    long handled,
    double perSecond,
    long restarts,
    String lastError,
    List<MessageRow> messages) {
  /** Returns this row, as another process reports it. */
  ActorRow in(String process) {
    return new ActorRow(
        process, path, depth, oldestWaitMillis, handled, perSecond, restarts, lastError, messages);
  }

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
