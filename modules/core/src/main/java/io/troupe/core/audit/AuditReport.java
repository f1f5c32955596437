package io.troupe.core.audit;

import java.util.List;
import java.util.SortedMap;

/**
 * The findings of an audit.
 *
 * @param records of the journal that were read
 * @param events in them
 * @param state of the run at their end, in one word
 * @param version steps trained, and the newest weights
 * @param undoneSteps steps that a process made and took with it
 * @param processes that worked on the run
 * @param epochs complete passes over the prompts
 * @param seen everything that ever happened
 * @param stands the part of the run that no return to a checkpoint has undone
 * @param waiting groups without a worker
 * @param leased groups under lease
 * @param buffered groups ready to train on
 * @param training groups in the running step
 * @param tokens of all trained steps, undone ones too
 * @param failed groups ever given up, by reason, numbers left out
 * @param violations the first ones
 * @param violationCount all of them
 */
public record AuditReport(
    long records,
    long events,
    String state,
    long version,
    long undoneSteps,
    long processes,
    long epochs,
    AuditCounters seen,
    AuditCounters stands,
    long waiting,
    long leased,
    long buffered,
    long training,
    Tokens tokens,
    SortedMap<String, Long> failed,
    List<AuditViolation> violations,
    long violationCount) {
  /**
   * Completion tokens of trained steps.
   *
   * @param weighted with loss weight
   * @param unweighted without
   * @param stalenessMax greatest staleness of a token with loss weight
   * @param boundMax greatest bound a step was made under
   */
  public record Tokens(long weighted, long unweighted, long stalenessMax, long boundMax) {
    static final Tokens NONE = new Tokens(0, 0, 0, 0);
  }

  /** Returns the number of groups that have not ended. */
  public long pending() {
    return waiting + leased + buffered + training;
  }

  /** Whether the run kept all it promises. */
  public boolean sound() {
    return violationCount == 0;
  }
}
