package io.troupe.cli.simulate;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.OverrideOption;
import io.troupe.run.session.JsonText;
import io.troupe.run.simulation.Predictor;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe simulate}: predicts a run in virtual time. */
@Command(
    name = "simulate",
    description = {
      "Runs the coordinator of a configuration in virtual time, over a model of everything else, and"
          + " prints what the run will come to: steps a second, staleness, what is idle and why.",
      "Every simulated run is audited as a real one is."
    },
    footer = {
      "",
      "Exit codes: 0 all promises kept · 1 a simulated run broke one · 2 refused, with the reason",
      "",
      "Examples:",
      "  troupe simulate conf/1024-gpu.yaml",
      "  troupe simulate conf/16-gpu.yaml --model model.json --sweep training.max_staleness=0,1,2,4"
          + " --svg trade-off.svg"
    })
public final class SimulateCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "FILE", description = "Configuration of a run.")
  private @Nullable Path file;

  @Mixin private OverrideOption overrides = new OverrideOption();

  @Option(
      names = "--sweep",
      paramLabel = "KEY=VALUE,VALUE…",
      description = "Predicts all values of a key; of several keys, all combinations.")
  private List<String> axes = new ArrayList<>();

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Writes a sweep's trade-off of speed and staleness there, as a picture.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Mixin private SimulateOptions options = new SimulateOptions();

  @Override
  public Integer call() throws IOException, UnmodelledRunException {
    Path configuration = Objects.requireNonNull(file);
    LatencyModel model = options.modelOf(configuration);
    PrintWriter out = out();
    if (axes.isEmpty()) {
      if (svg != null) {
        throw new UnmodelledRunException("--svg draws a sweep; name its keys with --sweep");
      }
      return print(
          options.predictor().predict(configuration, overrides.values(), model), json, out);
    }
    return sweep(options.predictor().sweep(configuration, overrides.values(), axes, model), out);
  }

  /** Prints a prediction, and says by the exit code whether its runs kept their promises. */
  static int print(Prediction prediction, boolean json, PrintWriter out) {
    if (json) {
      out.println(new JsonText().line(prediction.json()));
    } else {
      prediction.lines().forEach(out::println);
    }
    out.flush();
    return (prediction.sound() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private int sweep(Predictor.Swept swept, PrintWriter out) throws IOException {
    if (json) {
      Map<String, Object> all = new LinkedHashMap<>(swept.sweep().json());
      all.put("refused", swept.refused().stream().map(Predictor.Refused::overrides).toList());
      out.println(new JsonText().line(all));
    } else {
      swept.sweep().lines().forEach(out::println);
      swept
          .refused()
          .forEach(
              refused ->
                  out.println(
                      "refused         %s: %s"
                          .formatted(String.join(" ", refused.overrides()), refused.reason())));
    }
    if (svg != null) {
      AtomicFile.replace(svg, swept.sweep().svg().getBytes(StandardCharsets.UTF_8));
    }
    out.flush();
    boolean sound = swept.sweep().points().stream().allMatch(point -> point.prediction().sound());
    return (sound ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }
}
