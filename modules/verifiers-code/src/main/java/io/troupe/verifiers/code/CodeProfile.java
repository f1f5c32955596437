package io.troupe.verifiers.code;

/**
 * A benchmark's rules of extraction and reward of programs.
 *
 * @param firstBlockOnly whether the code ends before its second function or class
 * @param partialCredit whether the reward is the share of passed tests; otherwise all tests must
 *     pass
 * @param comparison comparison of the output of whole programs
 */
public record CodeProfile(
    boolean firstBlockOnly, boolean partialCredit, OutputComparison comparison) {
  /** Returns the profile of MBPP: all tests must pass. */
  public static CodeProfile mbpp() {
    return new CodeProfile(false, false, OutputComparison.TOKENS);
  }

  /** The check function must pass. */
  public static CodeProfile humanEval() {
    return new CodeProfile(false, false, OutputComparison.TOKENS);
  }

  /** The reward is the share of passed tests, and output is compared word by word. */
  public static CodeProfile apps() {
    return new CodeProfile(false, true, OutputComparison.TOKENS);
  }

  /** This profile with another reward rule. */
  public CodeProfile withPartialCredit(boolean share) {
    return new CodeProfile(firstBlockOnly, share, comparison);
  }
}
