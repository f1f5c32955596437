package io.troupe.cli.models;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.engine.safetensors.DType;
import io.troupe.run.model.WeightsExport;
import io.troupe.run.session.JsonText;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe models export}: a checkpoint's weights for other programs. */
@Command(
    name = "export",
    description =
        "Writes the weights of a checkpoint, without its optimizer, as transformers and vLLM load"
            + " them.",
    footer = {"", "Example:", "  troupe models export quickstart-20261121-140200 -o /tmp/policy"})
final class ModelsExportCommand extends CliCommand {
  /** The type of the numbers. */
  enum Type {
    BFLOAT16(DType.BF16),
    FLOAT32(DType.F32);

    private final DType stored;

    Type(DType stored) {
      this.stored = stored;
    }
  }

  @Parameters(
      paramLabel = "RUN",
      description = "A run, whose newest checkpoint is taken, or the folder of a checkpoint.")
  private @Nullable String source;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FOLDER",
      description = "A folder that is empty or not there.")
  private @Nullable Path output;

  @Option(names = "--dtype", description = "bfloat16 (default) or float32.")
  private Type type = Type.BFLOAT16;

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    Path folder = folder(Objects.requireNonNull(source));
    Path target = Objects.requireNonNull(output);
    long parameters = WeightsExport.write(folder, target, type.stored);
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("from", folder.toString());
    result.put("folder", target.toString());
    result.put("parameters", parameters);
    PrintWriter out = out();
    out.println(
        json
            ? new JsonText().line(result)
            : "%s: %,d parameters of %s".formatted(target, parameters, folder));
    out.flush();
    return ExitCode.OK.code();
  }

  private static Path folder(String source) throws IOException {
    Path path = Path.of(source);
    if (Files.isRegularFile(path.resolve("config.json"))) {
      return path;
    }
    RunFolder run = RunFolder.view(Path.of("runs"), source);
    return Checkpoints.view(run.checkpoints())
        .list()
        .newest()
        .map(newest -> newest.directory().resolve(TrainerTasks.POLICY_FOLDER))
        .orElseThrow(
            () ->
                new IOException(
                    "%s has no checkpoint yet; wait for one, or lower checkpoint.every"
                        .formatted(source)));
  }
}
