package io.troupe.runtime.prompt;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.Tokenizer;
import java.util.List;

/** The prompts of a run with their token ids, and the seeds by which they are sampled. */
public final class PromptPool {
  private final List<Prompt> prompts;
  private final List<int[]> tokens;
  private final long seed;

  /**
   * Encodes all prompts.
   *
   * @param seed of the run
   * @throws IllegalArgumentException if a prompt cannot be encoded; the message names it
   */
  public PromptPool(List<Prompt> prompts, Tokenizer tokenizer, long seed) {
    this.prompts = List.copyOf(prompts);
    this.tokens = this.prompts.stream().map(prompt -> encode(prompt, tokenizer)).toList();
    this.seed = seed;
  }

  private static int[] encode(Prompt prompt, Tokenizer tokenizer) {
    try {
      return tokenizer.encodeWithSpecial(prompt.text());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("prompt %s: %s".formatted(prompt.id(), e.getMessage()), e);
    }
  }

  public int size() {
    return prompts.size();
  }

  public Prompt prompt(int index) {
    return prompts.get(index);
  }

  public int[] tokens(int index) {
    return tokens.get(index);
  }

  /** Tokens of the longest prompt. */
  public int longest() {
    return tokens.stream().mapToInt(ids -> ids.length).max().orElse(0);
  }

  /**
   * What a worker gets with a lease. The seed depends on run, prompt and epoch, not on the lease,
   * so that a resumed run samples what an unbroken one would have sampled; and on how often the
   * group was sampled before, so that a second attempt has other completions.
   *
   * @param draws as in {@link io.troupe.core.run.Group}
   */
  public Assignment assignment(LeaseId lease, int index, long epoch, int draws) {
    long first = mix(mix(mix(seed) + index) + epoch);
    return new Assignment(
        lease, prompt(index), tokens(index), draws == 0 ? first : mix(first + draws));
  }
}
