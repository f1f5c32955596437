package io.troupe.run.simulation;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.run.compose.Composition;
import io.troupe.sim.Simulation;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import io.troupe.sim.report.Sweep;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Predicts runs of configurations.
 *
 * @param seeds runs of each configuration
 * @param firstSeed of these; the same seed draws the same lengths under every configuration
 * @param hours of virtual time at most
 * @param faults by script
 */
public record Predictor(int seeds, long firstSeed, double hours, List<Fault> faults) {
  private static final double HOUR = 3600;

  /** A combination of a sweep that its configuration refuses. */
  public record Refused(List<String> overrides, String reason) {}

  /** The points of a sweep, and what was refused. */
  public record Swept(Sweep sweep, List<Refused> refused) {}

  /** A prediction of a configuration. */
  public Prediction predict(Composition composition, LatencyModel model)
      throws UnmodelledRunException {
    RunScenario made = RunScenario.of(composition, model, faults, hours * HOUR);
    return new Prediction(
        made.scenario(), Simulation.runs(made.scenario(), firstSeed, seeds), made.notes());
  }

  /** A prediction of a file with overrides. */
  public Prediction predict(Path file, List<String> overrides, LatencyModel model)
      throws IOException, UnmodelledRunException {
    return predict(Composition.described(checked(file, overrides)), model);
  }

  private static RunConfig checked(Path file, List<String> overrides) {
    return RunConfig.load(file, overrides).config();
  }

  /**
   * Predictions of all combinations.
   *
   * @param axes keys with their values, such as {@code training.max_staleness=0,1,2}
   * @throws UnmodelledRunException if an axis is malformed, a stage has no model, or nothing is
   *     left
   */
  public Swept sweep(Path file, List<String> overrides, List<String> axes, LatencyModel model)
      throws IOException, UnmodelledRunException {
    SweepAxes all = SweepAxes.parse(axes);
    List<Sweep.Point> points = new ArrayList<>();
    List<Refused> refused = new ArrayList<>();
    for (List<String> values : all.combinations()) {
      List<String> changed = all.assignments(values);
      List<String> together = new ArrayList<>(overrides);
      together.addAll(changed);
      try {
        points.add(new Sweep.Point(values, predict(file, together, model)));
      } catch (ConfigurationException bad) {
        refused.add(new Refused(changed, String.valueOf(bad.getMessage())));
      }
    }
    if (points.isEmpty()) {
      throw new UnmodelledRunException(
          "every combination of the sweep is refused, the first because of\n"
              + refused.getFirst().reason());
    }
    return new Swept(new Sweep(all.keys(), points), refused);
  }
}
