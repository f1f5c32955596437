package io.troupe.tasks.results;

import io.troupe.core.evaluation.PassAtK;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The number by which prompts are ordered and chosen: high for what is often solved. */
public sealed interface Difficulty {
  Pattern PASS = Pattern.compile("pass@([1-9][0-9]{0,6})");

  /** The number of a prompt; absent where the results do not say. */
  OptionalDouble of(PromptResults results);

  /** The mean reward of what was judged. */
  record MeanReward() implements Difficulty {
    @Override
    public OptionalDouble of(PromptResults results) {
      return results.judged() == 0
          ? OptionalDouble.empty()
          : OptionalDouble.of(results.sum() / results.judged());
    }

    @Override
    public String toString() {
      return "mean reward";
    }
  }

  /** The unbiased estimate of pass@k. */
  record PassAt(int k) implements Difficulty {
    @Override
    public OptionalDouble of(PromptResults results) {
      return results.judged() < k
          ? OptionalDouble.empty()
          : OptionalDouble.of(PassAtK.of(results.judged(), results.passed(), k));
    }

    @Override
    public String toString() {
      return "pass@" + k;
    }
  }

  /**
   * Reads a name: {@code mean} or {@code pass@K}.
   *
   * @throws IllegalArgumentException if it is neither
   */
  static Difficulty parse(String name) {
    if (name.equals("mean")) {
      return new MeanReward();
    }
    Matcher pass = PASS.matcher(name);
    if (!pass.matches()) {
      throw new IllegalArgumentException(
          "a key is mean or pass@K with K from 1, such as pass@4, not %s".formatted(name));
    }
    return new PassAt(Integer.parseInt(pass.group(1)));
  }
}
