package io.troupe.benchmarks.simulator;

import io.troupe.benchmarks.harness.Measurement;
import io.troupe.config.RunConfig;
import io.troupe.run.compose.Composition;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.RunScenario;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.Simulation;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.SimulationResult;
import io.troupe.sim.model.Workload;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The duration of a simulation of 1,024 GPUs, in CPU time of the simulating thread.
 *
 * @param hours of virtual time
 */
record SimulatorSpeed(double hours) {
  private static final double DAY_HOURS = 24;
  private static final double DAY_SECONDS = 60;
  private static final double SHORT_DAY_SECONDS = 600;
  private static final double SHORT_TOKENS = 512;
  private static final double WARM_UP_HOURS = 0.5;
  private static final double HOUR = 3600;
  private static final double NANOS = 1e9;
  private static final double MICROS = 1e6;

  /** Simulates with the lengths of the model's file and with completions of 512 tokens. */
  List<Measurement> measure(Path file) throws IOException, UnmodelledRunException {
    LatencyModel model = ModelFile.read(ModelFile.beside(file));
    Composition run = Composition.described(RunConfig.load(file, List.of()).config());
    simulate(run, model, WARM_UP_HOURS);
    List<Measurement> all = new ArrayList<>();
    all.addAll(measure("lengths of the file", DAY_SECONDS, run, model));
    all.addAll(measure("512 tokens", SHORT_DAY_SECONDS, run, shortened(model)));
    return all;
  }

  private List<Measurement> measure(
      String label, double barOfDay, Composition run, LatencyModel model)
      throws UnmodelledRunException {
    long before = threadNanos();
    SimulationResult result = simulate(run, model, hours);
    double seconds = (threadNanos() - before) / NANOS;
    long groups = result.state().ledger().admitted();
    System.out.printf(
        Locale.ROOT,
        "%s: %.1f h, %,d groups, %.1f s of processor time, %.1f us a group, %.0f s for a day, load"
            + " %.1f%n",
        label,
        hours,
        groups,
        seconds,
        seconds * MICROS / groups,
        seconds * DAY_HOURS / hours,
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    return List.of(
        new Measurement(
            label + ": processor time of a simulated day",
            seconds * DAY_HOURS / hours,
            "s",
            Double.NaN,
            barOfDay,
            false),
        new Measurement(
            label + ": processor time of a group",
            seconds * MICROS / groups,
            "us",
            Double.NaN,
            Double.NaN,
            false));
  }

  private static SimulationResult simulate(Composition run, LatencyModel model, double hours)
      throws UnmodelledRunException {
    SimulationResult result =
        Simulation.run(RunScenario.of(run, model, List.of(), hours * HOUR).scenario(), 1);
    if (!result.audit().violations().isEmpty()) {
      throw new IllegalStateException(
          "the audit of a simulated run found %s"
              .formatted(result.audit().violations().getFirst()));
    }
    return result;
  }

  private static LatencyModel shortened(LatencyModel model) throws UnmodelledRunException {
    Workload workload = model.workload();
    if (!(workload.lengths() instanceof LengthModel.LogNormal lengths)) {
      throw new UnmodelledRunException(
          "the speed is measured with log-normal lengths; workload.lengths of the model has"
              + " others");
    }
    return model.withWorkload(
        new Workload(
            new LengthModel.LogNormal(SHORT_TOKENS, lengths.sigmaPrompt(), lengths.sigma()),
            workload.promptTokens(),
            workload.degenerateShare(),
            workload.meanReward()));
  }

  private static long threadNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
