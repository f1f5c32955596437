package io.troupe.cli.simulate;

import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.Predictor;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.LatencyModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every command that simulates. */
public final class SimulateOptions {
  private static final Pattern FAULT =
      Pattern.compile("([a-z_]+)@(\\d+(?:\\.\\d+)?)(?:\\+(\\d+(?:\\.\\d+)?))?(?::(\\d+))?");

  @Option(
      names = "--model",
      paramLabel = "FILE",
      description =
          "Model of all latencies, of `troupe fit` or written by hand; by default the file beside"
              + " the configuration with the ending .model.json.")
  private @Nullable Path model;

  @Option(
      names = "--seeds",
      description = "Runs to simulate, default ${DEFAULT-VALUE}; the range is over these.")
  private int seeds = 5;

  @Option(names = "--first-seed", description = "Seed of the first run, default ${DEFAULT-VALUE}.")
  private long firstSeed = 1;

  @Option(
      names = "--hours",
      defaultValue = "24",
      description = "Virtual time after which a run is cut off, default ${DEFAULT-VALUE}.")
  private double hours = 24;

  @Option(
      names = "--failures",
      paramLabel = "FACTOR",
      defaultValue = "1",
      description = "Multiplies the model's rates of failures, default ${DEFAULT-VALUE}.")
  private double failures = 1;

  @Option(
      names = "--fault",
      paramLabel = "KIND@SECONDS[+SECONDS][:TARGET]",
      description =
          "One thing that goes wrong, and for how long: worker_dies, engine_fails, partition,"
              + " verifiers_stall, verifiers_away, disk_stalls, coordinator_dies or worker_slows;"
              + " may be given many times.")
  private List<String> faults = new ArrayList<>();

  Optional<Path> modelFile() {
    return Optional.ofNullable(model);
  }

  /** The model of a configuration's run, with its failures made as frequent as asked. */
  public LatencyModel modelOf(Path configuration) throws IOException, UnmodelledRunException {
    Path beside = ModelFile.beside(configuration);
    if (modelFile().isEmpty() && !Files.isRegularFile(beside)) {
      throw new UnmodelledRunException(
          "no stage of %s has a model: name one with --model, fit one from a run with `troupe fit"
                  .formatted(configuration)
              + " RUN -o model.json`, or put %s beside it".formatted(beside.getFileName()));
    }
    return accelerated(ModelFile.read(modelFile().orElse(beside)));
  }

  LatencyModel accelerated(LatencyModel read) {
    return failures == 1 ? read : read.withFailures(read.failures().accelerated(failures));
  }

  /** Returns the predictor that simulates. */
  public Predictor predictor() throws UnmodelledRunException {
    if (seeds < 1 || hours <= 0 || failures < 0) {
      throw new UnmodelledRunException(
          "--seeds is 1 or more, --hours above 0 and --failures not negative");
    }
    List<Fault> script = new ArrayList<>();
    for (String fault : faults) {
      script.add(parse(fault));
    }
    return new Predictor(seeds, firstSeed, hours, script);
  }

  private static Fault parse(String text) throws UnmodelledRunException {
    Matcher parts = FAULT.matcher(text);
    try {
      if (parts.matches()) {
        return new Fault(
            Fault.Kind.valueOf(parts.group(1).toUpperCase(Locale.ROOT)),
            Double.parseDouble(parts.group(2)),
            parts.group(3) == null ? 0 : Double.parseDouble(parts.group(3)),
            parts.group(4) == null ? 0 : Integer.parseInt(parts.group(4)));
      }
    } catch (IllegalArgumentException unknown) {
      // The sentence below names all kinds.
    }
    throw new UnmodelledRunException(
        "--fault takes KIND@SECONDS[+SECONDS][:TARGET], such as worker_dies@3600+30:5, not '%s'"
            .formatted(text));
  }
}
