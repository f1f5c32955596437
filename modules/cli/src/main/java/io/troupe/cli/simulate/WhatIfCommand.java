package io.troupe.cli.simulate;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.session.JsonText;
import io.troupe.run.simulation.Predictor;
import io.troupe.run.simulation.RunFit;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe whatif}: predicts a run that was made with some keys changed. */
@Command(
    name = "whatif",
    description = {
      "Fits a model from a run and predicts the run with keys changed, beside what was measured and"
          + " what the model says of the run as it was: where these two differ, so does the rest."
    },
    footer = {"", "Example:", "  troupe whatif quickstart-20261121-140200 --set rollout.workers=4"})
public final class WhatIfCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Changes a key of the run; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Mixin private SimulateOptions options = new SimulateOptions();

  @Override
  public Integer call() throws IOException, UnmodelledRunException {
    if (options.modelFile().isPresent()) {
      throw new UnmodelledRunException(
          "whatif fits the run's own model; use `troupe simulate` with --model for another one");
    }
    RunFit fit = RunFit.of(run.view());
    LatencyModel model = options.accelerated(fit.model());
    Predictor predictor = options.predictor();
    Path resolved = fit.folder().resolved();
    String steps = "training.steps=" + fit.measured().stepCount();
    Prediction asItWas = predictor.predict(resolved, List.of(steps), model);
    Prediction changed = predictor.predict(resolved, overrides, model);
    PrintWriter out = out();
    if (json) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put(
          "measured",
          Map.of(
              "steps_per_second", fit.measured().stepsPerSecond(),
              "staleness_mean", fit.measured().stalenessMean()));
      all.put("as_it_was", asItWas.json());
      all.put("changed", changed.json());
      out.println(new JsonText().line(all));
      out.flush();
      return ExitCode.OK.code();
    }
    out.println(
        "measured        %.4g steps/s, mean staleness %.3g, %d steps"
            .formatted(
                fit.measured().stepsPerSecond(),
                fit.measured().stalenessMean(),
                fit.measured().stepCount()));
    out.println(
        "as it was       %.4g steps/s, mean staleness %.3g, by the model"
            .formatted(asItWas.stepsPerSecond().mean(), asItWas.staleness().mean()));
    out.println("changed         " + String.join(" ", overrides));
    return SimulateCommand.print(changed, false, out);
  }
}
