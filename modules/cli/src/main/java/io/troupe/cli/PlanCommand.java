package io.troupe.cli;

import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.OverrideOption;
import io.troupe.cli.simulate.SimulateOptions;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import io.troupe.run.compose.Composition;
import io.troupe.run.evaluation.CheckpointWatcher;
import io.troupe.run.evaluation.PolicyTrial;
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
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe plan}: says what a configuration means, without starting the run. */
@Command(
    name = "plan",
    description = {
      "Prints what a configuration means: keys and where they come from, the loss formula with its"
          + " numbers, capacities, memory, placement.",
      "Refuses what cannot work, with every violation and its line.",
      "With --try, samples a few completions with the weights that the run begins with, has its"
          + " verifiers judge them, and shows all of it. Nothing is trained or written."
    },
    footer = {
      "",
      "Exit codes: 0 ok · 1 a completion of --try could not be judged, or --simulate found no steady"
          + " run · 2 the configuration is refused · 4 weights, verifiers or sampling failed",
      "",
      "Examples:",
      "  troupe plan conf/quickstart.yaml --set loss.objective=dapo",
      "  troupe plan my.yaml --try --prompts 3 --completions 4"
    })
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

  @Option(
      names = "--try",
      description =
          "Samples and judges completions of the first prompts: prompt, completion, what the"
              + " verifier read, reward, reason and seconds.")
  private boolean tries;

  @Option(
      names = "--prompts",
      paramLabel = "N",
      description =
          "Prompts of --try, the first of each data set in turn; default ${DEFAULT-VALUE}.")
  private int prompts = 2;

  @Option(
      names = "--completions",
      paramLabel = "N",
      description = "Completions of each prompt of --try; default ${DEFAULT-VALUE}.")
  private int completions = 2;

  @Mixin private SimulateOptions options = new SimulateOptions();

  @Override
  public Integer call() throws IOException, InvalidVerifierException, UnmodelledRunException {
    if (tries && simulate) {
      throw refused("give --try or --simulate, not both");
    }
    if (!tries && (has("--prompts") || has("--completions"))) {
      throw refused("--prompts and --completions need --try");
    }
    if (prompts < 1 || completions < 1) {
      throw refused("--prompts and --completions are 1 or more");
    }
    if (gpus != null) {
      overrides.putFirst(HostGpus.overrides(gpus));
    }
    ResolvedConfig<RunConfig> resolved =
        RunConfig.load(Objects.requireNonNull(file), overrides.values());
    Composition composition =
        tries ? Composition.of(resolved.config()) : Composition.described(resolved.config());
    CheckpointWatcher.check(resolved.config());
    composition.checkVerifiers();
    Plan plan = composition.fittingPlan(resolved);
    if (tries) {
      return tried(composition, plan);
    }
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

  private int tried(Composition composition, Plan plan)
      throws IOException, InvalidVerifierException {
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    Signals.install(stop::complete, number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    if (!json) {
      out().println(plan.text());
      PolicyTrial.notes(composition.config()).forEach(note -> out().println("note   " + note));
      out().flush();
    }
    TrialText trial =
        new TrialText(
            new PolicyTrial(composition, prompts, completions, stop, System::nanoTime).run());
    if (json) {
      Map<String, Object> both = new LinkedHashMap<>(plan.json());
      Map<String, Object> own = new LinkedHashMap<>(trial.json());
      own.put("notes", PolicyTrial.notes(composition.config()));
      both.put("trial", own);
      out().println(new JsonText().line(both));
    } else {
      trial.lines().forEach(out()::println);
    }
    out().flush();
    if (stop.isDone()) {
      err().println("interrupted; nothing was written");
      return ExitCode.ofSignal(stop.join());
    }
    return (trial.judged() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }
}
