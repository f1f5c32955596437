package io.troupe.cli.models;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.schema.Doc;
import io.troupe.config.task.DataSection;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.run.compose.CheckpointFingerprint;
import io.troupe.run.model.ModelCache;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe models fetch}: brings a model into the cache. */
@Command(
    name = "fetch",
    description = {
      "Fetches a model into the cache, where runs of this machine find it, and opens it: from S3 or"
          + " the Hugging Face hub (HF_ENDPOINT, HF_TOKEN). A fetch that was interrupted continues.",
      "Exit code 0 if the model is there and can be trained, 4 if it is not to be had, 2 if its kind"
          + " is not supported."
    })
final class ModelsFetchCommand extends CliCommand {
  /** The part of a configuration that says where models are. */
  public record FetchConfig(@Doc("Where models are.") DataSection data) {}

  @Parameters(
      paramLabel = "MODEL",
      description =
          "A name on the hub, with @REVISION if it is not the main one, or s3://bucket/prefix.")
  private @Nullable String model;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "A key of data, such as data.s3_models; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object instead of text; progress on stderr.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    DataSection data =
        ConfigurationFile.bind(
                FetchConfig.class, Path.of("the command line"), "data: {}", overrides)
            .config()
            .data();
    PrintWriter out = out();
    PrintWriter progress = json ? err() : out;
    Path folder =
        ModelCache.of(
                data,
                message -> {
                  progress.println(message);
                  progress.flush();
                })
            .folder(Objects.requireNonNull(model));
    PretrainedModel opened = PretrainedModel.open(folder);
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("model", model);
    result.put("folder", folder.toString());
    result.put("family", opened.settings().family().title());
    result.put("parameters", opened.parameters());
    result.put("fingerprint", CheckpointFingerprint.of(folder));
    out.println(
        json
            ? new JsonText().line(result)
            : "%s%n%s, %,d parameters, fingerprint %s"
                .formatted(
                    folder, result.get("family"), opened.parameters(), result.get("fingerprint")));
    out.flush();
    return ExitCode.OK.code();
  }
}
