package io.troupe.real;

import io.troupe.real.CaseResult.Verdict;
import java.time.Duration;
import java.util.List;

/**
 * What came of a counterpart.
 *
 * @param cases those that its driver told, in order
 */
record CounterpartResult(
    String name, String version, List<CaseResult> cases, Ending ending, Duration took) {
  /** How its driver ended. */
  sealed interface Ending {
    /** It told all of its cases. */
    record Complete() implements Ending {}

    /** It did not tell all of its cases, or none. */
    record Broken(String why) implements Ending {}

    /** It was not started. */
    record NotRun(String why) implements Ending {}
  }

  CounterpartResult {
    cases = List.copyOf(cases);
  }

  int count(Verdict verdict) {
    return (int) cases.stream().filter(each -> each.verdict() == verdict).count();
  }

  /** Returns the number of failures; a driver that did not tell all of its cases is one. */
  int failures() {
    return count(Verdict.FAILED) + (ending instanceof Ending.Broken ? 1 : 0);
  }

  boolean wasRun() {
    return !(ending instanceof Ending.NotRun);
  }
}
