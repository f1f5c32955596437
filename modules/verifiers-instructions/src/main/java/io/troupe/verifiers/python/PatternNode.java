package io.troupe.verifiers.python;

import java.util.List;
import java.util.function.IntPredicate;

/** A part of a parsed regular expression. */
sealed interface PatternNode {
  /** The upper bound of repeats without a bound. */
  int UNBOUNDED = -1;

  /** One character of a set. */
  record Characters(IntPredicate set) implements PatternNode {}

  /** A place between characters. */
  record Place(Kind kind) implements PatternNode {}

  /** Parts, one after the other. */
  record Sequence(List<PatternNode> parts) implements PatternNode {}

  /** The first that leads to a match. */
  record Choice(List<PatternNode> parts) implements PatternNode {}

  /** A part repeated as often as possible, or as seldom if lazy. */
  record Repeat(PatternNode part, int least, int most, boolean lazy) implements PatternNode {}

  /** The places that Python names. */
  enum Kind {
    TEXT_START,
    TEXT_END,
    LAST_LINE_END,
    LINE_START,
    LINE_END,
    WORD_BOUNDARY,
    NO_WORD_BOUNDARY
  }
}
