package io.troupe.serve;

import io.troupe.engine.SamplingSettings;
import java.time.Duration;
import java.util.List;

/**
 * A request for completions, checked.
 *
 * @param id the id of the answer
 * @param model the model or the adapter that samples
 * @param chat whether the prompt is a conversation
 * @param prompts token ids, one or more prompts
 * @param completions completions of each prompt
 * @param settings sampling settings; their token limit fits the context of the longest prompt
 * @param seed the seed of the first prompt; the seeds of the other prompts follow from it
 * @param stream whether tokens are sent as they are sampled
 * @param interval how long to gather tokens before a message is sent
 * @param text whether the answer holds text and tokens by name, and not ids and numbers alone
 * @param logProbs whether the answer holds log-probabilities
 * @param tokenIds whether the answer holds token ids
 * @param idsAsTokens whether log-probabilities name tokens by id
 * @param keepStop whether the text keeps the stop string
 * @param usage whether a stream ends with the counts
 * @param ofPrompt what the answer holds of the prompt
 */
record CompletionRequest(
    String id,
    String model,
    boolean chat,
    List<int[]> prompts,
    int completions,
    SamplingSettings settings,
    long seed,
    boolean stream,
    Duration interval,
    boolean text,
    boolean logProbs,
    boolean tokenIds,
    boolean idsAsTokens,
    boolean keepStop,
    boolean usage,
    PromptAnswer ofPrompt) {
  CompletionRequest {
    prompts = List.copyOf(prompts);
  }

  int choices() {
    return prompts.size() * completions;
  }

  /** The prompt to which a choice belongs. */
  int[] prompt(int choice) {
    return prompts.get(choice / completions);
  }

  /** Whether the answer holds the log-probabilities of the prompt's tokens. */
  boolean scoresPrompt() {
    return ofPrompt.logProbs() || (ofPrompt.echo() && logProbs);
  }

  int promptTokens() {
    return prompts.stream().mapToInt(prompt -> prompt.length).sum();
  }
}
