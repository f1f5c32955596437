package io.troupe.verifiers;

/** The ways in which the verifier {@code gsm8k} reads the answer of a completion. */
public enum Gsm8kMode {
  /**
   * The last {@code \boxed{}}, else the text after the last {@code ####}, else the answer of the
   * last "the answer is", compared as the verifier {@code math} compares: for models that were
   * trained to write one of these. A completion without any of them has reward 0.
   */
  ANCHORS,
  /**
   * The last sentence {@code The answer is N.}, with its full stop. The mode for training: a
   * completion without that sentence has reward 0, so that a policy is never rewarded for numbers
   * that it did not call its answer.
   */
  STRICT,
  /**
   * The last number: the last run of digits, commas, points and dollar signs that holds a digit,
   * with the minus before it. For evaluation.
   */
  FLEXIBLE,
  /**
   * Strict if it finds an answer, else flexible. For evaluation. (A third reading, the last number
   * of {@code [-+]?[0-9]+(.[0-9]+)?}, is not needed: where it finds a number, flexible does too.)
   */
  ANY
}
