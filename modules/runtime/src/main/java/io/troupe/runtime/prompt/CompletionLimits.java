package io.troupe.runtime.prompt;

import java.nio.IntBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The token limit of the completions of each prompt, by the prompt's tokens: the trainer knows a
 * group by these alone. Prompts of the same tokens have the lowest of their limits.
 */
public final class CompletionLimits {
  private final int general;
  private final Map<IntBuffer, Integer> own = new HashMap<>();

  /** The limits of a pool's prompts; reads its tokens only where limits differ. */
  public CompletionLimits(PromptPool pool, SourceSampling sampling) {
    this.general = sampling.general().maxTokens();
    for (int i = 0; !sampling.isUniform() && i < pool.size(); i++) {
      int limit = sampling.of(pool.prompt(i)).maxTokens();
      if (limit != general) {
        own.merge(IntBuffer.wrap(pool.tokens(i)), limit, Math::min);
      }
    }
  }

  /** The limit of a prompt's completions. */
  public int of(int[] prompt) {
    return own.getOrDefault(IntBuffer.wrap(prompt), general);
  }
}
