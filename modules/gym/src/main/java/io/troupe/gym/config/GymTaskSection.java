package io.troupe.gym.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.Variant;

/** What the student of a gym is asked. */
@Variant(
    key = "name",
    defaultsTo = "arithmetic",
    meaning = "The items; `arithmetic` has known skills and a script that makes rows.")
public sealed interface GymTaskSection {
  /** Arithmetic of two digits with known skills. */
  @Doc(
      "Sums and differences of two-digit numbers, with and without carry, and reversals of four"
          + " digits: the leaves `add/nocarry`, `add/carry`, `sub/noborrow`, `sub/borrow` and"
          + " `reverse/digits`. A script makes rows.")
  record Arithmetic(
      @Doc(value = "Items of each leaf that steer the agent.", unit = "items")
          @Default("150")
          @Range(min = 1, max = 2000)
          int validationItems,
      @Doc(value = "Items of each leaf that are answered once, at the end.", unit = "items")
          @Default("500")
          @Range(min = 1, max = 2000)
          int testItems,
      @Doc(
              value = "Rows of each leaf, except those of gate.weak, of the base student.",
              unit = "rows")
          @Default("1000")
          @Range(min = 1, max = 10_000)
          int baseRows)
      implements GymTaskSection {
    /** Tokens of the longest prompt, its answer and the end: {@code r1234=4321}. */
    static final int LONGEST = 11;
  }
}
