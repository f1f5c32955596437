package io.troupe.cli.simulate;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.RunFit;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.TrainModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe fit}: makes the model of a run from its journal. */
@Command(
    name = "fit",
    description = {
      "Fits the model that `troupe simulate` needs from a run's journal and metrics: speeds of"
          + " decoding and training, lengths and rewards of its groups, times of its verifiers.",
      "Refuses a run with too few groups or steps."
    },
    footer = {"", "Example:", "  troupe fit quickstart-20261121-140200 -o model.json"})
public final class FitCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      required = true,
      description = "Writes the model there.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException, UnmodelledRunException {
    RunFit fit = RunFit.of(run.view());
    Path file = Objects.requireNonNull(output);
    ModelFile.write(file, fit.model());
    PrintWriter out = out();
    print(fit, out);
    out.println("written         " + file);
    out.flush();
    return ExitCode.OK.code();
  }

  private static void print(RunFit fit, PrintWriter out) {
    out.println("model           " + fit.model().origin().source());
    printDecoding(fit.model(), out);
    TrainModel training = fit.model().training();
    out.println(
        "training        %.4g ms a step + %.4g us a token, spread %.0f %%"
            .formatted(
                training.baseSeconds() * 1e3,
                training.tokenSeconds() * 1e6,
                training.sigma() * 100));
    printCores(fit.model(), out);
    printLengths(fit, out);
  }

  private static void printDecoding(LatencyModel model, PrintWriter out) {
    if (model.engine().decode() instanceof DecodeModel.Linear linear) {
      out.println(
          "decoding        %.4g ms a step + %.4g ms a completion, %.4g ms to start a group; up to %d completions at a time"
              .formatted(
                  linear.baseSeconds() * 1e3,
                  linear.rowSeconds() * 1e3,
                  model.engine().prefillSeconds() * 1e3,
                  model.origin().rows()));
    }
  }

  private static void printCores(LatencyModel model, PrintWriter out) {
    ControlModel control = model.control();
    if (control.cores() > 0) {
      out.println(
          "cores           %.4g, shared by trainer, workers and %.2g threads of the background; %.4g to %.4g of the former computed at once"
              .formatted(
                  control.cores(),
                  control.backgroundThreads(),
                  model.origin().leastThreads(),
                  model.origin().mostThreads()));
    }
  }

  private static void printLengths(RunFit fit, PrintWriter out) {
    if (fit.model().workload().lengths() instanceof LengthModel.Empirical lengths) {
      long cut =
          lengths.groups().stream()
              .flatMap(group -> group.lengths().stream())
              .filter(length -> length >= lengths.cap())
              .count();
      out.println(
          "lengths         %d groups%s; %d completions at the limit of %d tokens, %d leases without an answer"
              .formatted(
                  lengths.groups().size(),
                  lengths.drifts() ? ", which change over the run" : "",
                  cut,
                  lengths.cap(),
                  fit.measured().unfinished()));
    }
  }
}
