package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * How many tokens of a prompt are read, as vLLM's {@code truncate_prompt_tokens} says.
 *
 * @param most tokens that are read
 * @param first whether they are the first ones, not the last
 */
record PromptCut(int most, boolean first) {
  private static final int ALL_THAT_FIT = -1;

  /**
   * Reads the fields of a request.
   *
   * @param room most tokens of a prompt beside its completion
   */
  static PromptCut of(JsonNode body, int room) {
    int most = body.path("truncate_prompt_tokens").asInt(Integer.MAX_VALUE);
    return new PromptCut(
        most == ALL_THAT_FIT ? room : most,
        body.path("truncation_side").asText("left").equals("right"));
  }

  /**
   * Cuts a prompt.
   *
   * @param kept tokens at the beginning that stay in any case
   */
  int[] of(int[] prompt, int kept) {
    if (prompt.length <= most) {
      return prompt;
    }
    if (first || most <= kept) {
      return Arrays.copyOf(prompt, most);
    }
    int rest = most - kept;
    return IntStream.concat(
            Arrays.stream(prompt, 0, kept),
            Arrays.stream(prompt, prompt.length - rest, prompt.length))
        .toArray();
  }
}
