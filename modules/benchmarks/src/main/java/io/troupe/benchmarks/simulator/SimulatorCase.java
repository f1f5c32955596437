package io.troupe.benchmarks.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * A setting of a workload.
 *
 * @param workers of rollouts
 * @param maxStaleness 0 for lock-step
 */
record SimulatorCase(SimulatorWorkload workload, int workers, int maxStaleness) {
  /** The setting that models are fitted on; no case has it. */
  static SimulatorCase fitted(SimulatorWorkload workload) {
    return new SimulatorCase(workload, 2, 1);
  }

  /** The settings of a workload that are predicted. */
  static List<SimulatorCase> predicted(SimulatorWorkload workload) {
    return List.of(
        new SimulatorCase(workload, 1, 0),
        new SimulatorCase(workload, 3, 2),
        new SimulatorCase(workload, 4, 4));
  }

  String label() {
    return "%s, %d workers, max_staleness %d".formatted(workload.label(), workers, maxStaleness);
  }

  /** The keys of the setting. */
  List<String> overrides(long steps, long seed) {
    return new ArrayList<>(
        List.of(
            "rollout.workers=" + workers,
            "training.max_staleness=" + maxStaleness,
            "training.steps=" + steps,
            "run.seed=" + seed));
  }
}
