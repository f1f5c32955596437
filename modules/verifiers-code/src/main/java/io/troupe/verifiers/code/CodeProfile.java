package io.troupe.verifiers.code;

/**
 * How a benchmark reads completions and pays for them.
 *
 * @param firstBlockOnly whether the code ends before its second function or class
 * @param partialCredit whether the reward is the share of passed tests; else all or nothing
 * @param comparison of what whole programs write
 */
public record CodeProfile(
    boolean firstBlockOnly, boolean partialCredit, OutputComparison comparison) {
  /** All tests must pass. */
  public static CodeProfile mbpp() {
    return new CodeProfile(false, false, OutputComparison.TOKENS);
  }

  /** The check function must pass. */
  public static CodeProfile humanEval() {
    return new CodeProfile(false, false, OutputComparison.TOKENS);
  }

  /** The share of passed tests counts, and output is compared word by word. */
  public static CodeProfile apps() {
    return new CodeProfile(false, true, OutputComparison.TOKENS);
  }

  /** The same, but only the first function or class of a completion is judged. */
  public CodeProfile withFirstBlockOnly() {
    return new CodeProfile(true, partialCredit, comparison);
  }

  /** The same with another way to pay. */
  public CodeProfile withPartialCredit(boolean share) {
    return new CodeProfile(firstBlockOnly, share, comparison);
  }

  /** The same with another way to compare. */
  public CodeProfile withComparison(OutputComparison other) {
    return new CodeProfile(firstBlockOnly, partialCredit, other);
  }
}
