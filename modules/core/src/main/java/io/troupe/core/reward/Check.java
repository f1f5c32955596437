package io.troupe.core.reward;

/**
 * One part of a judgement that has several: a unit test, an instruction.
 *
 * @param name of the test or instruction
 * @param passed by the strict reading, the one that rewards are made of
 * @param passedLoosely by the reading that forgives wrapping text, where the verifier has one; else
 *     the same as {@code passed}
 */
public record Check(String name, boolean passed, boolean passedLoosely) {
  /** A part with one reading. */
  public Check(String name, boolean passed) {
    this(name, passed, passed);
  }
}
