package io.troupe.serve.completion;

import java.util.Optional;

/**
 * A request for completions, checked.
 *
 * @param model the model or the adapter that samples
 * @param name the name that the request calls it by
 * @param job samples of the request
 * @param form form of the answer for each completion
 * @param ofPrompt form of the answer for the prompt
 * @param turn the conversation that is continued; empty for a prompt
 */
public record CompletionRequest(
    String model,
    String name,
    SamplingJob job,
    AnswerForm form,
    PromptAnswer ofPrompt,
    Optional<AskedTurn> turn) {
  /** Whether the answer holds the log-probabilities of the prompt's tokens. */
  public boolean scoresPrompt() {
    return ofPrompt.logProbs() || (ofPrompt.echo() && form.logProbs());
  }
}
