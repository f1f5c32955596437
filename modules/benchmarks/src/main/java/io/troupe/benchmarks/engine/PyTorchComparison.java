package io.troupe.benchmarks.engine;

import io.troupe.benchmarks.harness.PairedMeasurement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Some measurements of our engine beside PyTorch. */
interface PyTorchComparison {
  /**
   * The settings that all comparisons share.
   *
   * @param threads of PyTorch, on either side
   * @param rounds pairs of bursts of each measurement
   * @param python the other side
   * @param scratch an empty folder, deleted afterwards
   */
  record Setting(int threads, int rounds, PythonPeer python, Path scratch) {}

  /** Measures, and prints its progress on standard error. */
  List<PairedMeasurement> run(Setting setting) throws IOException;
}
