package io.troupe.engine;

import static io.troupe.core.Require.require;

/**
 * How tokens are drawn.
 *
 * @param temperature logits are divided by it; 0 means greedy
 * @param maxTokens most tokens of a completion, the stop token included
 */
public record SamplingSettings(double temperature, int maxTokens) {
  public SamplingSettings {
    require(temperature >= 0, "a sampling temperature is 0 or greater, not %s", temperature);
    require(maxTokens >= 1, "a completion may have at least one token, not %d", maxTokens);
  }

  /** The most probable token, always. */
  public static SamplingSettings greedy(int maxTokens) {
    return new SamplingSettings(0, maxTokens);
  }
}
