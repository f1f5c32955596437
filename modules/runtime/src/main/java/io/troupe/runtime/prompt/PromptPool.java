package io.troupe.runtime.prompt;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.engine.Tokenizer;
import java.util.List;
import java.util.Map;

/**
 * The prompts of a run with their token ids and the seeds by which they are sampled, and its
 * examples to imitate.
 */
public final class PromptPool {
  private final List<Prompt> prompts;
  private final List<int[]> tokens;
  private final List<SupervisedExample> imitated;
  private final Map<String, int[]> ends;
  private final int[] ownEnd;
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
    this.imitated = List.of();
    this.ends = Map.of();
    this.ownEnd = new int[] {tokenizer.endOfSequence()};
    this.seed = seed;
  }

  private PromptPool(PromptPool other, List<SupervisedExample> imitated, Map<String, int[]> ends) {
    this.prompts = other.prompts;
    this.tokens = other.tokens;
    this.imitated = List.copyOf(imitated);
    this.ends = Map.copyOf(ends);
    this.ownEnd = other.ownEnd;
    this.seed = other.seed;
  }

  /** Returns the same prompts, with examples of data sets of their own. */
  public PromptPool imitating(List<SupervisedExample> examples) {
    return new PromptPool(this, examples, ends);
  }

  /**
   * Returns the same prompts, with the ends of their answers.
   *
   * @param bySource ids behind an answer that is imitated; a source without them ends its answers
   *     with the tokenizer's end of a sequence
   */
  public PromptPool ending(Map<String, int[]> bySource) {
    return new PromptPool(this, imitated, bySource);
  }

  /** Returns the ids that end an answer to a prompt which is imitated. */
  public int[] end(int index) {
    return ends.getOrDefault(prompt(index).source(), ownEnd);
  }

  /** Whether examples come from data sets of their own. */
  public boolean imitatesRows() {
    return !imitated.isEmpty();
  }

  /**
   * Returns the examples of a step, from 1: all once an epoch, in an order of seed and epoch, so
   * that a resumed run takes the same.
   *
   * @param batch most of them
   */
  public List<SupervisedExample> imitated(long step, int batch) {
    return new SupervisedPlan(imitated.size(), batch, seed, step)
        .rowsOf(step).stream().map(imitated::get).toList();
  }

  private static int[] encode(Prompt prompt, Tokenizer tokenizer) {
    try {
      return tokenizer.encodeWithSpecial(prompt.text());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("prompt %s: %s".formatted(prompt.id(), e.getMessage()), e);
    }
  }

  /** Returns the number of prompts. */
  public int size() {
    return prompts.size();
  }

  /** Returns a prompt by its index, from 0. */
  public Prompt prompt(int index) {
    return prompts.get(index);
  }

  /** Returns the token ids of a prompt. */
  public int[] tokens(int index) {
    return tokens.get(index);
  }

  /** Tokens of the longest prompt. */
  public int longest() {
    return tokens.stream().mapToInt(ids -> ids.length).max().orElse(0);
  }

  /**
   * Returns the assignment that a worker gets with a lease. The seed depends on run, prompt and
   * epoch, not on the lease, so that a resumed run samples what an unbroken one would have sampled;
   * and on how often the group was sampled before, so that a second attempt has other completions.
   *
   * @param draws as in {@link io.troupe.core.run.group.Group}
   */
  public Assignment assignment(LeaseId lease, int index, long epoch, int draws) {
    long first = mix(mix(mix(seed) + index) + epoch);
    return new Assignment(
        lease, prompt(index), tokens(index), draws == 0 ? first : mix(first + draws));
  }
}
