package io.troupe.cli;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.OverrideOption;
import io.troupe.cli.simulate.SimulateOptions;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import io.troupe.run.compose.Composition;
import io.troupe.run.evaluation.CheckpointWatcher;
import io.troupe.run.session.JsonText;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe plan}: says what a configuration means, without starting anything. */
@Command(
    name = "plan",
    description = {
      "Prints what a configuration means: keys and where they come from, the loss formula with its"
          + " numbers, capacities, memory, placement.",
      "Refuses what cannot work, with every violation and its line."
    },
    footer = {"", "Example:", "  troupe plan conf/quickstart.yaml --set loss.objective=dapo"})
final class PlanCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "FILE", description = "Configuration of a run.")
  private @Nullable Path file;

  @Mixin private OverrideOption overrides = new OverrideOption();

  @Option(
      names = "--gpus",
      paramLabel = "LIST|virtual:N",
      description = "Draws the run on these GPUs of one host, as `troupe train --gpus` places it.")
  private @Nullable String gpus;

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Option(
      names = "--simulate",
      description = "Predicts the run as well, as `troupe simulate` does, whose options it takes.")
  private boolean simulate;

  @Mixin private SimulateOptions options = new SimulateOptions();

  @Override
  public Integer call() throws IOException, InvalidVerifierException, UnmodelledRunException {
    if (gpus != null) {
      overrides.putFirst(HostGpus.overrides(gpus));
    }
    ResolvedConfig<RunConfig> resolved =
        RunConfig.load(Objects.requireNonNull(file), overrides.values());
    Composition composition = Composition.described(resolved.config());
    CheckpointWatcher.check(resolved.config());
    composition.checkVerifiers();
    Plan plan = composition.fittingPlan(resolved);
    if (!simulate) {
      System.out.println(json ? new JsonText().line(plan.json()) : plan.text());
      return ExitCode.OK.code();
    }
    LatencyModel model = options.modelOf(Objects.requireNonNull(file));
    Prediction prediction = options.predictor().predict(composition, model);
    if (json) {
      Map<String, Object> both = new LinkedHashMap<>(plan.json());
      both.put("prediction", prediction.json());
      System.out.println(new JsonText().line(both));
    } else {
      System.out.println(plan.text());
      prediction.lines().forEach(System.out::println);
    }
    return (prediction.sound() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }
}
