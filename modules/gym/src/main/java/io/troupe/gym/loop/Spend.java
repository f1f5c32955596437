package io.troupe.gym.loop;

import static io.troupe.core.Require.require;

/**
 * The cost of calls of a language model.
 *
 * @param calls answered
 * @param inputTokens of requests
 * @param outputTokens of answers
 * @param microDollars millionths of a dollar
 */
public record Spend(long calls, long inputTokens, long outputTokens, long microDollars) {
  public static final Spend NONE = new Spend(0, 0, 0, 0);

  public Spend {
    require(
        calls >= 0 && inputTokens >= 0 && outputTokens >= 0 && microDollars >= 0,
        "calls, tokens and costs are 0 or greater");
  }

  /** Returns the sum. */
  public Spend plus(Spend other) {
    return new Spend(
        calls + other.calls,
        inputTokens + other.inputTokens,
        outputTokens + other.outputTokens,
        microDollars + other.microDollars);
  }

  /** Returns tokens of requests and answers. */
  public long tokens() {
    return inputTokens + outputTokens;
  }
}
