package io.troupe.real;

import io.troupe.real.CaseResult.CaseOutcome;
import java.time.Duration;
import java.util.List;

/**
 * What came of a counterpart.
 *
 * @param cases those that its driver reported, in order
 */
record CounterpartResult(
    String name, String version, List<CaseResult> cases, Ending ending, Duration took) {
  /** How its driver ended. */
  sealed interface Ending {
    /** It reported all of its cases. */
    record Complete() implements Ending {}

    /** It did not report all of its cases, or none. */
    record Broken(String why) implements Ending {}

    /** It was not started. */
    record NotRun(String why) implements Ending {}
  }

  CounterpartResult {
    cases = List.copyOf(cases);
  }

  int count(CaseOutcome outcome) {
    return (int) cases.stream().filter(each -> each.outcome() == outcome).count();
  }

  /** Returns the number of failures; a driver that did not report all of its cases is one. */
  int failures() {
    return count(CaseOutcome.FAILED) + (ending instanceof Ending.Broken ? 1 : 0);
  }

  boolean wasRun() {
    return !(ending instanceof Ending.NotRun);
  }
}
