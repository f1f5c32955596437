package io.troupe.benchmarks.gpu.row;

import java.io.IOException;
import java.util.List;

/** The work of a process of a row. */
public interface GpuWork {
  /**
   * The result of a process.
   *
   * @param notes sentences on what could not be measured, and why
   */
  record Outcome(List<GpuMeasurement> measurements, List<String> notes) {
    public Outcome {
      measurements = List.copyOf(measurements);
      notes = List.copyOf(notes);
    }

    public static Outcome of(GpuMeasurement... measurements) {
      return new Outcome(List.of(measurements), List.of());
    }

    public static Outcome unmeasured(String reason) {
      return new Outcome(List.of(), List.of(reason));
    }
  }

  /** Measures; progress is on standard error. */
  Outcome measure(GpuSetting setting) throws IOException, InterruptedException;
}
