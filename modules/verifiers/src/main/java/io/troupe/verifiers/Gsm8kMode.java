package io.troupe.verifiers;

/** How the verifier {@code gsm8k} reads the answer of a completion. */
public enum Gsm8kMode {
  /**
   * The last {@code \boxed{}}, else what follows the last {@code ####}, else what the last "the
   * answer is" says, compared as the verifier {@code math} does: for models that were taught one of
   * these. Text without any of them earns nothing.
   */
  ANCHORS,
  /**
   * The first sentence {@code The answer is N.}, point included. The mode to train with: text
   * without it earns nothing, so that a policy cannot be paid for numbers it did not call its
   * answer.
   */
  STRICT,
  /**
   * The last number: the last run of digits, commas, points and dollar signs that holds a digit,
   * with the minus before it. For evaluation.
   */
  FLEXIBLE,
  /**
   * Strict if that finds something, else flexible. For evaluation. (A third reading, the last
   * number of {@code [-+]?[0-9]+(.[0-9]+)?}, is not needed: where it finds one, flexible does.)
   */
  ANY
}
