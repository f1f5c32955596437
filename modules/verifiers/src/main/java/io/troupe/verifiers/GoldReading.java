package io.troupe.verifiers;

/** The way in which a verifier reads an expected answer. */
public enum GoldReading {
  /** As mathematics, so that other notations of the same answer count. */
  MATHEMATICS,
  /** As words, so that case, markup and punctuation do not count. */
  WORDS,
  /** As neither: only the same text counts. */
  TEXT,
  /** Not at all: nothing is expected. */
  NONE
}
