package io.troupe.verifiers.pool;

import java.util.Locale;

/**
 * The work of a pool since it was opened.
 *
 * @param verifier the pool's verifier
 * @param waiting verifications in the queue now
 * @param running verifications on a worker now
 * @param scored verdicts with a reward
 * @param timeouts verifications ended at their deadline
 * @param crashes verifications that failed, or whose process died
 * @param badInputs verifications of prompts that cannot be judged
 * @param restarts worker processes that replaced another
 * @param millisP50 median time of a verification on a worker, without its time in the queue
 * @param millisP99 the time that one verification in a hundred exceeds
 * @param millisMax the longest time
 * @param quarantined whether the verifier's circuit breaker is open
 */
public record PoolReport(
    String verifier,
    int waiting,
    int running,
    long scored,
    long timeouts,
    long crashes,
    long badInputs,
    long restarts,
    double millisP50,
    double millisP99,
    double millisMax,
    boolean quarantined) {
  /** One line for a person; counts of zero are left out. */
  public String sentence() {
    StringBuilder sentence = new StringBuilder();
    sentence.append(
        String.format(
            Locale.ROOT,
            "%s: %,d scored, p50 %.1f ms, p99 %.1f ms, max %.1f ms",
            verifier,
            scored,
            millisP50,
            millisP99,
            millisMax));
    append(sentence, timeouts, "timeouts");
    append(sentence, crashes, "crashes");
    append(sentence, badInputs, "bad inputs");
    append(sentence, restarts, "processes replaced");
    append(sentence, waiting, "waiting");
    return quarantined ? sentence.append(", under quarantine").toString() : sentence.toString();
  }

  private static void append(StringBuilder sentence, long count, String what) {
    if (count > 0) {
      sentence.append(String.format(Locale.ROOT, ", %,d %s", count, what));
    }
  }
}
