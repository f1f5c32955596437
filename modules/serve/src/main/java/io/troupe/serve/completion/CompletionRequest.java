package io.troupe.serve.completion;

/**
 * A request for completions, checked.
 *
 * @param model the model or the adapter that samples
 * @param job samples of the request
 * @param form form of the answer for each completion
 * @param ofPrompt form of the answer for the prompt
 */
public record CompletionRequest(
    String model, SamplingJob job, AnswerForm form, PromptAnswer ofPrompt) {
  /** Whether the answer holds the log-probabilities of the prompt's tokens. */
  public boolean scoresPrompt() {
    return ofPrompt.logProbs() || (ofPrompt.echo() && form.logProbs());
  }
}
