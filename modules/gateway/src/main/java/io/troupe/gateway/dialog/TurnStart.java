package io.troupe.gateway.dialog;

/**
 * The facts of an answer before it is sampled.
 *
 * @param number of the request, by which the answer is named
 * @param createdSeconds since 1970
 * @param promptTokens ids that the policy is asked with
 */
public record TurnStart(int number, long createdSeconds, int promptTokens) {
  /** An answer that is sampled from now on. */
  public static TurnStart now(int number, int promptTokens) {
    return new TurnStart(number, System.currentTimeMillis() / 1000, promptTokens);
  }
}
