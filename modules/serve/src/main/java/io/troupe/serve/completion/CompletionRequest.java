package io.troupe.serve.completion;

/**
 * A request for completions, checked.
 *
 * @param model the model or the adapter that samples
 * @param job what is sampled
 * @param form what the answer holds of each completion
 * @param ofPrompt what the answer holds of the prompt
 */
public record CompletionRequest(
    String model, SamplingJob job, AnswerForm form, PromptAnswer ofPrompt) {
  /** Whether the answer holds the log-probabilities of the prompt's tokens. */
  public boolean scoresPrompt() {
    return ofPrompt.logProbs() || (ofPrompt.echo() && form.logProbs());
  }
}
