package io.troupe.app.config;

import static io.troupe.core.Require.require;

/**
 * What only the loaded task and its tokenizer know.
 *
 * @param trainingPrompts prompts to train on
 * @param withoutSolution how many of them have no solution to imitate
 * @param heldOutPrompts prompts kept for evaluation
 * @param longestPromptTokens tokens of the longest prompt of both
 * @param vocabularySize tokens of the vocabulary
 */
public record TaskFacts(
    int trainingPrompts,
    int withoutSolution,
    int heldOutPrompts,
    int longestPromptTokens,
    int vocabularySize) {
  public TaskFacts {
    require(
        trainingPrompts >= 0
            && withoutSolution >= 0
            && heldOutPrompts >= 0
            && longestPromptTokens >= 0,
        "facts count things, and counts are not negative");
    require(vocabularySize >= 1, "a vocabulary has a token, not %d", vocabularySize);
  }
}
