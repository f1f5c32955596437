package io.troupe.run.simulation;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.run.compose.Composition;
import io.troupe.sim.fit.FitSettings;
import io.troupe.sim.fit.MeasuredRun;
import io.troupe.sim.fit.ModelFit;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.LatencyModel;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.telemetry.MetricsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/**
 * A run that was measured, and the model that fits it.
 *
 * @param config the run's own, every key resolved
 */
public record RunFit(RunFolder folder, RunConfig config, MeasuredRun measured, LatencyModel model) {
  private static final double MILLIS = 1e3;

  /**
   * Reads a run's journal and metrics, and fits a model.
   *
   * @throws UnmodelledRunException if there is too little of it, or it sampled by other means than
   *     engines of its own
   */
  public static RunFit of(RunFolder folder) throws IOException, UnmodelledRunException {
    RunConfig config = RunConfig.load(folder.resolved(), List.of()).config();
    if (config.rollout().usesServers()) {
      throw new UnmodelledRunException(
          "%s sampled by inference servers, whose batches its journal does not have; fit a run"
                  .formatted(folder.name())
              + " of rollout.workers");
    }
    MeasuredRun measured = measured(folder);
    if (measured.device().isEmpty()
        && config.policy().wantsGpu()
        && config.placement().nodes() == 0) {
      throw new UnmodelledRunException(
          "the journal of %s does not say on which device its policy was computed, so nobody knows what"
                  .formatted(folder.name())
              + " its parts shared; fit a run of this version");
    }
    try {
      return new RunFit(
          folder, config, measured, ModelFit.of(measured, settings(folder, config, measured)));
    } catch (IllegalArgumentException tooLittle) {
      throw new UnmodelledRunException(String.valueOf(tooLittle.getMessage()));
    }
  }

  /** Measures times, lengths and rewards from a run's journal. */
  public static MeasuredRun measured(RunFolder folder) throws IOException {
    MeasuredRun measured = new MeasuredRun();
    try (RunJournal journal = RunJournal.open(folder.journal())) {
      journal.forEachNext(
          entry -> entry.events().forEach(event -> measured.event(entry.atMillis(), event)));
    }
    return measured;
  }

  private static FitSettings settings(RunFolder folder, RunConfig config, MeasuredRun measured)
      throws IOException {
    PolicySection policy = config.policy();
    // A policy's device may be `auto`: what it came to is in the journal, and a toy has none.
    boolean onCpu = measured.device().orElseGet(policy::computesOn).equals("cpu");
    boolean shares = config.placement().nodes() == 0 && onCpu;
    double cores = shares ? cores(folder) : 0;
    List<Map<String, Object>> rows = MetricsFile.read(folder.metrics(), 0);
    return new FitSettings(
        folder.name(),
        RunScenario.policy(policy),
        config.rollout().maxTokens(),
        Composition.of(config, folder.checkpoints()).facts().longestPromptTokens(),
        RunScenario.cpu(policy, new ControlModel(0, 0, cores, 0)),
        shares ? computingThreads(rows) : 0,
        verifySeconds(rows));
  }

  /** The cores of the machine that made a run. */
  private static double cores(RunFolder folder) throws IOException {
    return StoreJson.LINE
        .readTree(Files.readAllBytes(folder.path().resolve("run.json")))
        .required("cores")
        .asDouble();
  }

  /** The threads that were busy between the ends of steps of one process; 0 without such steps. */
  private static double computingThreads(List<Map<String, Object>> rows) {
    double cpu = 0;
    double seconds = 0;
    for (int i = 1; i < rows.size(); i++) {
      if (rows.get(i).get("cpu_seconds") instanceof Number used
          && rows.get(i).get("seconds") instanceof Number now
          && rows.get(i - 1).get("seconds") instanceof Number before) {
        cpu += used.doubleValue();
        seconds += now.doubleValue() - before.doubleValue();
      }
    }
    return seconds > 0 ? cpu / seconds : 0;
  }

  /** The median time of a verification, as the last row of the metrics has it. */
  private static double verifySeconds(List<Map<String, Object>> rows) {
    return rows.isEmpty() || !(rows.getLast().get("verifier_millis_p50") instanceof Number millis)
        ? 0
        : millis.doubleValue() / MILLIS;
  }
}
