package io.troupe.core.evaluation;

import static io.troupe.core.Require.require;

import java.util.OptionalDouble;

/**
 * The counts of one prompt's samples. A sample that could not be judged is in no count but {@link
 * #samples} and {@link #truncated}.
 *
 * @param samples all of them
 * @param judged samples that a verifier judged
 * @param passed samples that pass
 * @param rewards sum of the rewards of those that were judged
 * @param truncated samples that the limit of tokens ended
 */
public record PromptTally(int samples, int judged, int passed, double rewards, int truncated) {
  /** No sample yet. */
  public static final PromptTally NONE = new PromptTally(0, 0, 0, 0, 0);

  public PromptTally {
    require(
        passed >= 0 && passed <= judged && judged <= samples && truncated <= samples,
        "of %d samples %d are judged, %d passed and %d truncated, which cannot be",
        samples,
        judged,
        passed,
        truncated);
  }

  /** Returns this tally and one more sample that was judged. */
  public PromptTally judged(double reward, boolean passes, boolean cut) {
    return new PromptTally(
        samples + 1,
        judged + 1,
        passed + (passes ? 1 : 0),
        rewards + reward,
        truncated + (cut ? 1 : 0));
  }

  /** Returns this tally and one more sample that could not be judged. */
  public PromptTally unjudged(boolean cut) {
    return new PromptTally(samples + 1, judged, passed, rewards, truncated + (cut ? 1 : 0));
  }

  /** The mean reward of the judged samples; empty without any. */
  public OptionalDouble mean() {
    return judged == 0 ? OptionalDouble.empty() : OptionalDouble.of(rewards / judged);
  }

  /** pass@k of this prompt; empty if fewer than k samples were judged. */
  public OptionalDouble pass(int k) {
    return judged < k ? OptionalDouble.empty() : OptionalDouble.of(PassAtK.of(judged, passed, k));
  }
}
