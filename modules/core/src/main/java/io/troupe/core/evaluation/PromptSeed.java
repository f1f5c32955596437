package io.troupe.core.evaluation;

import static io.troupe.core.SplitMix64.mix;

/**
 * The seed by which an evaluation samples a prompt: it depends on the prompt's id, not its place.
 */
public final class PromptSeed {
  private PromptSeed() {}

  /** The seed of a prompt's first sample. */
  public static long of(long evaluation, String id) {
    long seed = mix(evaluation);
    for (int i = 0; i < id.length(); i++) {
      seed = mix(seed ^ id.charAt(i));
    }
    return seed;
  }
}
