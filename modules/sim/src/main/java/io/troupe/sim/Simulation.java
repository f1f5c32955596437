package io.troupe.sim;

import static io.troupe.core.Require.require;

import io.troupe.sim.engine.SimulatedRun;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import java.util.ArrayList;
import java.util.List;

/** Runs of a scenario in virtual time: the same seed makes the same run, on every JVM. */
public final class Simulation {
  private Simulation() {}

  /** Simulates one run. */
  public static SimulationResult run(Scenario scenario, long seed) {
    return new SimulatedRun(scenario, seed).run();
  }

  /** Runs of the seeds from one on. */
  public static List<SimulationResult> runs(Scenario scenario, long firstSeed, int count) {
    require(count >= 1, "a simulation has one seed or more, not %s", count);
    List<SimulationResult> results = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      results.add(run(scenario, firstSeed + i));
    }
    return results;
  }
}
