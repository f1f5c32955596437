package io.troupe.benchmarks.gpu.row;

import com.fasterxml.jackson.annotation.JsonIgnore;
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
public record GpuMeasurement(
    GpuRow row, String name, String unit, double ours, OptionalDouble pytorch, Bar bar) {
  /** Whether a measurement has a bar, and whether it met that. */
  public enum Judged {
    NOTHING,
    VALUE_AT_MOST,
    VALUE_AT_LEAST,
    RATIO_AT_LEAST
  }

  /** A promise and its number. */
  public record Bar(Judged judged, double number) {
    public static final Bar NONE = new Bar(Judged.NOTHING, 0);

    public static Bar atMost(double number) {
      return new Bar(Judged.VALUE_AT_MOST, number);
    }

    public static Bar atLeast(double number) {
      return new Bar(Judged.VALUE_AT_LEAST, number);
    }

    public static Bar ratioAtLeast(double number) {
      return new Bar(Judged.RATIO_AT_LEAST, number);
    }
  }

  /** Returns our number over PyTorch's. */
  public OptionalDouble ratio() {
    return pytorch.isPresent()
        ? OptionalDouble.of(ours / pytorch.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Whether the promise is kept; a ratio without PyTorch's number is not judged. */
  @JsonIgnore
  public boolean isKept() {
    return switch (bar.judged) {
      case NOTHING -> true;
      case VALUE_AT_MOST -> ours <= bar.number;
      case VALUE_AT_LEAST -> ours >= bar.number;
      case RATIO_AT_LEAST -> ratio().isEmpty() || ratio().getAsDouble() >= bar.number;
    };
  }

  /** Returns the same number without a promise. */
  public GpuMeasurement withoutBar() {
    return new GpuMeasurement(row, name, unit, ours, pytorch, Bar.NONE);
  }
}
