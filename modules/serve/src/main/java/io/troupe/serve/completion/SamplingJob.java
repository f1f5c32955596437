package io.troupe.serve.completion;

import io.troupe.engine.SamplingSettings;
import java.util.List;

/**
 * The samples of an engine for one request.
 *
 * @param id the client's id of the request
 * @param prompts token ids, one or more prompts
 * @param completions completions of each prompt
 * @param settings sampling settings; the token limit fits the context of the longest prompt
 * @param seed the seed of the first prompt; the seeds of the other prompts follow from it
 */
public record SamplingJob(
    String id, List<int[]> prompts, int completions, SamplingSettings settings, long seed) {
  public SamplingJob {
    prompts = List.copyOf(prompts);
  }

  int choices() {
    return prompts.size() * completions;
  }

  /** The prompt to which a choice belongs. */
  int[] prompt(int choice) {
    return prompts.get(choice / completions);
  }

  /** Tokens of all prompts. */
  public int promptTokens() {
    return prompts.stream().mapToInt(prompt -> prompt.length).sum();
  }
}
