package io.troupe.telemetry;

import java.util.Optional;
import java.util.OptionalDouble;

/** Rows for tests. */
final class Rows {
  private Rows() {}

  static StepRow first() {
    return row(
        1,
        41.2,
        0.121,
        OptionalDouble.empty(),
        0,
        0,
        0.31,
        0,
        212,
        0.0004,
        0.81,
        "rollout",
        10_900);
  }

  static StepRow evaluated() {
    return row(
        60,
        1973.4,
        0.455,
        OptionalDouble.of(0.441),
        2,
        1.02,
        0.18,
        0.004,
        248,
        0.0019,
        0.64,
        "trainer",
        11_900);
  }

  static StepRow huge() {
    return row(
        123_456_789,
        9e6,
        -123.456,
        OptionalDouble.of(1),
        12_345,
        9_876.5,
        1,
        1,
        1_234_567,
        1e-7,
        98_765_432.1,
        "verification",
        1.2e21);
  }

  static StepRow undefined() {
    double none = Double.NaN;
    return row(
        2,
        none,
        Double.POSITIVE_INFINITY,
        OptionalDouble.of(none),
        0,
        none,
        none,
        none,
        none,
        Double.NEGATIVE_INFINITY,
        none,
        "",
        none);
  }

  private static StepRow row(
      long step,
      double seconds,
      double reward,
      OptionalDouble eval,
      long stalenessMax,
      double stalenessMean,
      double degenerateShare,
      double lostShare,
      double length,
      double kl,
      double gradientNorm,
      String waitedFor,
      double tokensPerSecond) {
    return new StepRow(
        step,
        seconds,
        eval,
        Optional.of(
            new StepRow.Training(
                reward,
                stalenessMax,
                stalenessMean,
                degenerateShare,
                lostShare,
                length,
                kl,
                gradientNorm,
                waitedFor,
                tokensPerSecond,
                0.01,
                3e-4,
                1.5,
                0.001,
                0.002,
                0.03,
                0.004,
                0.02,
                1,
                1.01,
                1.02,
                1.03,
                0.99,
                0.0004,
                0,
                0,
                0,
                0,
                4096,
                12,
                0.125,
                0.25,
                0.1875,
                0.03125,
                0,
                0.75,
                32,
                3,
                1,
                0,
                1.5,
                40,
                2,
                1,
                7,
                0.5,
                0.125,
                0.25,
                0.75,
                0.875,
                0.0625,
                0.0625,
                -0.5,
                200,
                300,
                0.375,
                5)));
  }
}
