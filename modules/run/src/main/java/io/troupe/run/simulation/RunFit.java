package io.troupe.run.simulation;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.run.compose.Composition;
import io.troupe.sim.fit.FitSettings;
import io.troupe.sim.fit.MeasuredRun;
import io.troupe.sim.fit.ModelFit;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.LatencyModel;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import io.troupe.telemetry.MetricsFile;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    try {
      return new RunFit(folder, config, measured, ModelFit.of(measured, settings(folder, config)));
    } catch (IllegalArgumentException tooLittle) {
      throw new UnmodelledRunException(String.valueOf(tooLittle.getMessage()));
    }
  }

  /** What a run's journal says of times, lengths and rewards. */
  public static MeasuredRun measured(RunFolder folder) throws IOException {
    MeasuredRun measured = new MeasuredRun();
    try (RunJournal journal = RunJournal.open(folder.journal())) {
      Optional<RunJson.Entry> next = journal.next();
      while (next.isPresent()) {
        long at = next.get().atMillis();
        next.get().events().forEach(event -> measured.event(at, event));
        next = journal.next();
      }
    }
    return measured;
  }

  private static FitSettings settings(RunFolder folder, RunConfig config) throws IOException {
    PolicySection policy = config.policy();
    boolean shares = config.placement().nodes() == 0 && !policy.wantsGpu();
    double cores = shares ? Runtime.getRuntime().availableProcessors() : 0;
    CpuShape cpu = RunScenario.cpu(policy, cores);
    return new FitSettings(
        folder.name(),
        RunScenario.policy(policy),
        config.rollout().maxTokens(),
        Composition.of(config, folder.checkpoints()).facts().longestPromptTokens(),
        cpu.cores(),
        cpu.samplerThreads(),
        cpu.trainerThreads(),
        verifySeconds(folder));
  }

  /** The median time of a verification, as the last row of the metrics has it. */
  private static double verifySeconds(RunFolder folder) throws IOException {
    List<Map<String, Object>> rows = MetricsFile.read(folder.metrics(), 0);
    return rows.isEmpty() || !(rows.getLast().get("verifier_millis_p50") instanceof Number millis)
        ? 0
        : millis.doubleValue() / MILLIS;
  }
}
