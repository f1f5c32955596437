package io.troupe.gym.factory;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.SearchPath;
import io.troupe.base.process.Signals;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One training by {@code llamafactory-cli}. Its exit code alone says little (an unknown command
 * ends with 0), so that a training has succeeded when the code is 0, {@code train_results.json} has
 * a finite loss, and weights are there, all in a folder that did not exist before.
 */
public final class FactoryTraining {
  /** The variable of the environment that names the program. */
  public static final String VARIABLE = "TROUPE_LLAMAFACTORY";

  private static final String PROGRAM = "llamafactory-cli";
  private static final String OUTPUT = "output";
  private static final int LAST_LINES = 20;
  private static final int LAST_OUTPUT_MILLIS = 5_000;

  /** Variables that are passed on; others could make it another program ({@code USE_V1}). */
  private static final List<String> PASSED =
      List.of(
          "PATH",
          "HOME",
          "USER",
          "LANG",
          "TMPDIR",
          "LD_LIBRARY_PATH",
          "VIRTUAL_ENV",
          "CUDA_VISIBLE_DEVICES",
          "CUDA_HOME",
          "HF_HOME",
          "HF_TOKEN",
          "HF_HUB_OFFLINE",
          "FORCE_TORCHRUN",
          "DISABLE_VERSION_CHECK");

  /** A training that did not leave a model; the message says why and where its log is. */
  public static class FailedException extends IOException {
    private static final long serialVersionUID = 1;

    FailedException(String message) {
      super(message);
    }
  }

  /** A training whose loss is not finite. */
  public static final class DivergedException extends FailedException {
    private static final long serialVersionUID = 1;

    DivergedException(String message) {
      super(message);
    }
  }

  /** A training that a signal ended. */
  public static final class StoppedException extends FailedException {
    private static final long serialVersionUID = 1;

    StoppedException(String message) {
      super(message);
    }
  }

  /**
   * The result of a training.
   *
   * @param output folder of the adapter or model
   * @param steps optimizer steps; 0 if LLaMA-Factory does not say
   */
  public record Trained(Path output, int steps, double loss) {}

  private static final JsonMapper LENIENT =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private final String program;
  private final FactorySettings settings;
  private final Consumer<String> say;
  private volatile @Nullable ProcessGroup running;

  /**
   * A training.
   *
   * @param program name or path, such as {@code llamafactory-cli}
   * @param say takes lines about its progress
   */
  public FactoryTraining(String program, FactorySettings settings, Consumer<String> say) {
    this.program = program;
    this.settings = settings;
    this.say = say;
  }

  /** Returns the program that the environment names, else {@code llamafactory-cli}. */
  public static String program() {
    return Optional.ofNullable(System.getenv(VARIABLE)).orElse(PROGRAM);
  }

  /** Returns the number of GPUs that {@code CUDA_VISIBLE_DEVICES} lists; 1 where it is not set. */
  public static int visibleGpus(Map<String, String> environment) {
    return Optional.ofNullable(environment.get("CUDA_VISIBLE_DEVICES"))
        .map(devices -> devices.isBlank() ? 0 : devices.split(",", -1).length)
        .orElse(1);
  }

  /** Returns the folder that a training in a folder leaves its model in. */
  public static Path output(Path folder) {
    return folder.resolve(OUTPUT);
  }

  /** Ends the training at work; safe for any thread. */
  public void stop() {
    ProcessGroup group = running;
    if (group != null) {
      group.leader().destroy();
    }
  }

  /**
   * Trains on a data set.
   *
   * @param folder that gets the configuration, the log and {@code output}; must not have an output
   */
  public Trained run(Path dataSets, String dataSet, Path folder)
      throws IOException, InterruptedException {
    Path output = output(folder).toAbsolutePath();
    if (Files.exists(output)) {
      throw new FailedException(
          output + " exists, and LLaMA-Factory would resume what is in it; name another folder");
    }
    Files.createDirectories(folder);
    Path config = folder.resolve("llama_factory_config.yaml");
    AtomicFile.replace(
        config, settings.yaml(dataSet, dataSets.toAbsolutePath().toString(), output.toString()));
    Path log = folder.resolve("llama_factory.log");
    Path found =
        SearchPath.find(program)
            .orElseThrow(
                () ->
                    new FailedException(
                        "there is no program %s; install LLaMA-Factory, or name its program by %s"
                            .formatted(program, VARIABLE)));
    ProcessBuilder builder =
        new ProcessBuilder(found.toString(), "train", config.toAbsolutePath().toString())
            .redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(PASSED);
    environment.put("WANDB_DISABLED", "true");
    int code = follow(builder, log);
    return judged(code, output, log);
  }

  private int follow(ProcessBuilder builder, Path log) throws IOException, InterruptedException {
    ProcessGroup group = ProcessGroup.start(builder);
    running = group;
    try (group) {
      group.leader().getOutputStream().close();
      Thread reader = Thread.ofPlatform().daemon().start(() -> read(group.output(), log));
      int code = group.leader().waitFor();
      reader.join(LAST_OUTPUT_MILLIS); // A descendant that is left may hold the pipe.
      return code;
    } finally {
      running = null;
    }
  }

  /** Reads to the end, also where the log cannot be written: a full pipe would stop the child. */
  private void read(InputStream output, Path log) {
    try (BufferedReader lines =
            new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
        BufferedWriter writer = Files.newBufferedWriter(log)) {
      boolean writable = true;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        writable = writable && written(writer, line);
        if (line.contains("loss") || line.contains("%|")) {
          say.accept(line.strip());
        }
      }
    } catch (IOException closed) {
      say.accept("%s: %s".formatted(log, closed.getMessage()));
    }
  }

  private boolean written(BufferedWriter writer, String line) {
    try {
      writer.write(line);
      writer.newLine();
      writer.flush();
      return true;
    } catch (IOException full) {
      say.accept("the log of the training is cut: " + full.getMessage());
      return false;
    }
  }

  private Trained judged(int code, Path output, Path log) throws IOException {
    if (code == ExitCode.ofSignal(Signals.SIGINT) || code == ExitCode.ofSignal(Signals.SIGTERM)) {
      throw new StoppedException("the training by %s was stopped".formatted(program));
    }
    if (code != 0) {
      throw new FailedException(failure("it ended with exit code " + code, log));
    }
    Path results = output.resolve("train_results.json");
    if (!Files.isRegularFile(results)) {
      throw new FailedException(failure("it ended with exit code 0 and left no " + results, log));
    }
    JsonNode loss = LENIENT.readTree(Files.readAllBytes(results)).path("train_loss");
    if (!loss.isNumber() || !Double.isFinite(loss.doubleValue())) {
      throw new DivergedException(
          failure("its train_loss is " + loss + "; lower learning_rate", log));
    }
    List<String> weights = new ArrayList<>();
    try (Stream<Path> files = Files.list(output)) {
      files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(".safetensors"))
          .forEach(weights::add);
    }
    if (weights.isEmpty()) {
      throw new FailedException(failure("it left no weights (*.safetensors) in " + output, log));
    }
    return new Trained(output, steps(output), loss.doubleValue());
  }

  private static int steps(Path output) throws IOException {
    Path state = output.resolve("trainer_state.json");
    return Files.isRegularFile(state)
        ? LENIENT.readTree(Files.readAllBytes(state)).path("global_step").asInt()
        : 0;
  }

  private String failure(String why, Path log) throws IOException {
    Deque<String> last = new ArrayDeque<>();
    try (Stream<String> lines = Files.lines(log)) {
      lines.forEach(
          line -> {
            last.addLast(line);
            if (last.size() > LAST_LINES) {
              last.removeFirst();
            }
          });
    }
    return "the training by %s failed: %s; its last lines, of %s:%n%s"
        .formatted(program, why, log, String.join(System.lineSeparator(), last));
  }
}
