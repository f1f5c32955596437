package io.troupe.serve.completion;

import static io.troupe.core.Require.require;

/**
 * The fields of the prompt in the answer to a request.
 *
 * @param logProbs whether each choice has the field {@code prompt_logprobs}
 * @param echo whether each choice begins with its prompt, in its text and in its arrays of tokens
 * @param likeliest number of the most likely tokens that are given beside each token of the prompt
 * @param only whether nothing is sampled
 */
public record PromptAnswer(boolean logProbs, boolean echo, int likeliest, boolean only) {
  public PromptAnswer {
    require(!(logProbs && echo), "send echo or prompt_logprobs, not both");
  }

  /** The field of the request that asks for it. */
  public String field() {
    return echo ? "echo" : "prompt_logprobs";
  }
}
