package io.troupe.gym.factory;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.AtomicFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One training by {@code llamafactory-cli}. Its exit code alone says little (an unknown command
 * ends with 0), so that a training has succeeded when the code is 0, {@code train_results.json} has
 * a finite loss, and weights are there, all in a folder that did not exist before.
 */
public final class FactoryTraining {
  /** The program, unless the environment names another one. */
  public static final String VARIABLE = "TROUPE_LLAMAFACTORY";

  private static final int LAST_LINES = 20;

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
  public static final class FailedException extends IOException {
    private static final long serialVersionUID = 1;

    FailedException(String message) {
      super(message);
    }
  }

  /**
   * What a training left.
   *
   * @param output folder of the adapter or model
   */
  public record Trained(Path output, double loss) {}

  private static final JsonMapper LENIENT =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private final String program;
  private final FactorySettings settings;
  private final Consumer<String> say;

  /**
   * A training.
   *
   * @param program such as {@code llamafactory-cli}
   * @param say takes lines about its progress
   */
  public FactoryTraining(String program, FactorySettings settings, Consumer<String> say) {
    this.program = program;
    this.settings = settings;
    this.say = say;
  }

  /**
   * Trains on a data set.
   *
   * @param folder that gets the configuration, the log and {@code output}; must not have an output
   */
  public Trained run(Path dataSets, String dataSet, Path folder)
      throws IOException, InterruptedException {
    Path output = folder.resolve("output").toAbsolutePath();
    if (Files.exists(output)) {
      throw new FailedException(
          output + " exists, and LLaMA-Factory would resume what is in it; name another folder");
    }
    Files.createDirectories(folder);
    Path config = folder.resolve("llama_factory_config.yaml");
    AtomicFile.replace(
        config, settings.yaml(dataSet, dataSets.toAbsolutePath().toString(), output.toString()));
    Path log = folder.resolve("llama_factory.log");
    ProcessBuilder builder =
        new ProcessBuilder(program, "train", config.toAbsolutePath().toString())
            .redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(PASSED);
    environment.put("WANDB_DISABLED", "true");
    int code = follow(builder, log);
    return judged(code, output, log);
  }

  private int follow(ProcessBuilder builder, Path log) throws IOException, InterruptedException {
    Process process;
    try {
      process = builder.start();
    } catch (IOException absent) {
      throw new IOException(
          "cannot start %s: %s; install LLaMA-Factory, or name its program by %s"
              .formatted(program, absent.getMessage(), VARIABLE),
          absent);
    }
    try (BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        var writer = Files.newBufferedWriter(log)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        writer.write(line);
        writer.newLine();
        writer.flush();
        if (line.contains("loss") || line.contains("%|")) {
          say.accept(line.strip());
        }
      }
      return process.waitFor();
    } finally {
      try (Stream<ProcessHandle> children = process.descendants()) {
        children.forEach(ProcessHandle::destroy);
      }
      process.destroy();
    }
  }

  private Trained judged(int code, Path output, Path log) throws IOException {
    if (code != 0) {
      throw failed("it ended with exit code " + code, log);
    }
    Path results = output.resolve("train_results.json");
    if (!Files.isRegularFile(results)) {
      throw failed("it ended with exit code 0 and left no " + results, log);
    }
    JsonNode loss = LENIENT.readTree(Files.readAllBytes(results)).path("train_loss");
    if (!loss.isNumber() || !Double.isFinite(loss.doubleValue())) {
      throw failed("its train_loss is " + loss + "; lower learning_rate", log);
    }
    List<String> weights = new ArrayList<>();
    try (Stream<Path> files = Files.list(output)) {
      files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(".safetensors"))
          .forEach(weights::add);
    }
    if (weights.isEmpty()) {
      throw failed("it left no weights (*.safetensors) in " + output, log);
    }
    return new Trained(output, loss.doubleValue());
  }

  private FailedException failed(String why, Path log) throws IOException {
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
    return new FailedException(
        "the training by %s failed: %s; its last lines, of %s:%n%s"
            .formatted(program, why, log, String.join(System.lineSeparator(), last)));
  }
}
