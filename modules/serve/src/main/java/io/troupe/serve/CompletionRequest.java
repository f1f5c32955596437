package io.troupe.serve;

import io.troupe.engine.SamplingSettings;
import java.time.Duration;
import java.util.List;

/**
 * A request for completions, checked.
 *
 * @param id of the answer
 * @param model what is to draw it: the model, or an adapter
 * @param chat whether it is a conversation
 * @param prompts token ids, one or more
 * @param completions of each prompt
 * @param settings how to draw; its token limit fits the context of the longest prompt
 * @param seed of the first prompt's draws; those of the others follow from it
 * @param stream whether tokens are sent as they come
 * @param interval how long to gather them
 * @param text whether to tell the text, and tokens by name, and not ids and numbers alone
 * @param logProbs whether to tell log-probabilities
 * @param tokenIds whether to tell ids
 * @param idsAsTokens whether log-probabilities name tokens by id
 * @param keepStop whether the text keeps the stop string
 * @param usage whether a stream ends with the counts
 * @param scorePrompt whether to tell the log-probabilities of the prompt's tokens
 * @param scoreOnly whether that is all, and nothing is drawn
 * @param likeliest how many of the most likely tokens to tell beside each of the prompt
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
    boolean scorePrompt,
    boolean scoreOnly,
    int likeliest) {
  CompletionRequest {
    prompts = List.copyOf(prompts);
  }

  int choices() {
    return prompts.size() * completions;
  }

  /** The prompt of a choice. */
  int[] prompt(int choice) {
    return prompts.get(choice / completions);
  }

  int promptTokens() {
    return prompts.stream().mapToInt(prompt -> prompt.length).sum();
  }
}
