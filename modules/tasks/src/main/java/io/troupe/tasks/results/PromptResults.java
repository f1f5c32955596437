package io.troupe.tasks.results;

import java.util.ArrayList;
import java.util.List;

/**
 * The measured results of one prompt.
 *
 * @param judged completions that a verifier judged
 * @param sum of their rewards
 * @param passed number of samples that pass
 * @param unverifiable completions that no verifier could judge; they count nowhere else
 * @param correct completions that pass, where the results hold completions
 * @param prompt as the policy read it; empty where the results do not hold it
 * @param source of the prompt; may be empty
 */
public record PromptResults(
    int judged,
    double sum,
    int passed,
    int unverifiable,
    List<String> correct,
    String prompt,
    String source) {
  /** The results of a prompt without a sample. */
  public static final PromptResults NONE = new PromptResults(0, 0, 0, 0, List.of(), "", "");

  public PromptResults {
    correct = List.copyOf(correct);
  }

  PromptResults scored(double reward, boolean full) {
    return new PromptResults(
        judged + 1, sum + reward, passed + (full ? 1 : 0), unverifiable, correct, prompt, source);
  }

  PromptResults unscored() {
    return new PromptResults(judged, sum, passed, unverifiable + 1, correct, prompt, source);
  }

  PromptResults withCorrect(String completion) {
    List<String> all = new ArrayList<>(correct);
    all.add(completion);
    return new PromptResults(judged, sum, passed, unverifiable, all, prompt, source);
  }

  PromptResults asked(String text, String from) {
    return new PromptResults(judged, sum, passed, unverifiable, correct, text, from);
  }
}
