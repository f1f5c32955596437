package io.troupe.config;

import static io.troupe.core.Require.require;

import java.util.Comparator;
import java.util.List;

/**
 * The facts that only the loaded task and its tokenizer know.
 *
 * @param trainingPrompts prompts to train on
 * @param withoutSolution number of training prompts without a solution to imitate
 * @param heldOutPrompts prompts kept for evaluation
 * @param longest the longest prompt of each limit of completions, of both
 * @param vocabularySize tokens of the vocabulary
 */
public record TaskFacts(
    int trainingPrompts,
    int withoutSolution,
    int heldOutPrompts,
    List<Longest> longest,
    int vocabularySize) {
  /**
   * The longest prompt of sources with one limit.
   *
   * @param promptTokens of the prompt
   * @param maxCompletionTokens of the sources; 0 for the run's
   */
  public record Longest(int promptTokens, int maxCompletionTokens) {
    public Longest {
      require(
          promptTokens >= 0 && maxCompletionTokens >= 0,
          "facts count things, and counts are not negative");
    }

    /** Tokens of its longest completion in a run with this limit. */
    public int completionTokens(int ofRun) {
      return maxCompletionTokens == 0 ? ofRun : Math.min(maxCompletionTokens, ofRun);
    }

    private int tokens(int ofRun) {
      return promptTokens + completionTokens(ofRun);
    }
  }

  public TaskFacts {
    longest = List.copyOf(longest);
    require(
        trainingPrompts >= 0 && withoutSolution >= 0 && heldOutPrompts >= 0,
        "facts count things, and counts are not negative");
    require(vocabularySize >= 1, "a vocabulary has a token, not %d", vocabularySize);
  }

  /** Creates the facts of a task whose sources have no limits of their own. */
  public TaskFacts(
      int trainingPrompts,
      int withoutSolution,
      int heldOutPrompts,
      int longestPromptTokens,
      int vocabularySize) {
    this(
        trainingPrompts,
        withoutSolution,
        heldOutPrompts,
        List.of(new Longest(longestPromptTokens, 0)),
        vocabularySize);
  }

  /** The prompt that takes the most tokens with its longest completion in a run with this limit. */
  public Longest longest(int ofRun) {
    return longest.stream()
        .max(Comparator.comparingInt(one -> one.tokens(ofRun)))
        .orElse(new Longest(0, 0));
  }

  /** Most tokens of a prompt with its completion in a run with this limit. */
  public int longestSequence(int ofRun) {
    return longest(ofRun).tokens(ofRun);
  }

  /** Tokens of the longest prompt. */
  public int longestPromptTokens() {
    return longest.stream().mapToInt(Longest::promptTokens).max().orElse(0);
  }
}
