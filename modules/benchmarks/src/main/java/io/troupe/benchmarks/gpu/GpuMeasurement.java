package io.troupe.benchmarks.gpu;

import java.util.OptionalDouble;

/**
 * A number of a row beside the same of plain PyTorch in the same environment.
 *
 * @param row that measured it
 * @param name of the quantity
 * @param unit of both numbers
 * @param ours measured here
 * @param pytorch measured there; empty where nothing is compared
 * @param bar that our number, or its ratio to PyTorch's, must keep
 */
record GpuMeasurement(
    GpuRow row, String name, String unit, double ours, OptionalDouble pytorch, Bar bar) {
  /** What is promised. */
  enum Judged {
    NOTHING,
    VALUE_AT_MOST,
    VALUE_AT_LEAST,
    RATIO_AT_LEAST
  }

  /** A promise and its number. */
  record Bar(Judged judged, double number) {
    static final Bar NONE = new Bar(Judged.NOTHING, 0);

    static Bar atMost(double number) {
      return new Bar(Judged.VALUE_AT_MOST, number);
    }

    static Bar atLeast(double number) {
      return new Bar(Judged.VALUE_AT_LEAST, number);
    }

    static Bar ratioAtLeast(double number) {
      return new Bar(Judged.RATIO_AT_LEAST, number);
    }
  }

  /** Returns our number over PyTorch's. */
  OptionalDouble ratio() {
    return pytorch.isPresent()
        ? OptionalDouble.of(ours / pytorch.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Whether the promise is kept; a ratio without PyTorch's number is not judged. */
  boolean isKept() {
    return switch (bar.judged) {
      case NOTHING -> true;
      case VALUE_AT_MOST -> ours <= bar.number;
      case VALUE_AT_LEAST -> ours >= bar.number;
      case RATIO_AT_LEAST -> ratio().isEmpty() || ratio().getAsDouble() >= bar.number;
    };
  }

  /** Returns the same number without a promise. */
  GpuMeasurement withoutBar() {
    return new GpuMeasurement(row, name, unit, ours, pytorch, Bar.NONE);
  }
}
