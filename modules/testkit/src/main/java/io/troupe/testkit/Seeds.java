package io.troupe.testkit;

import java.util.stream.LongStream;

/**
 * Seeds of a property. A test takes them as its argument, so that a failure's name prints the seed:
 * {@code @ParameterizedTest @MethodSource("io.troupe.testkit.Seeds#twoHundred")}.
 */
public final class Seeds {
  private Seeds() {}

  /** The 200 seeds every property of the core runs. */
  public static LongStream twoHundred() {
    return LongStream.rangeClosed(1, 200);
  }

  /** A handful, for properties whose single run is long. */
  public static LongStream twenty() {
    return LongStream.rangeClosed(1, 20);
  }
}
