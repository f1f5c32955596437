package io.troupe.cli.models;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.run.model.ModelCache;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe models list}: the whole models of the cache. */
@Command(
    name = "list",
    description = "Lists the models of this machine's cache: name, size, commit, folder.")
final class ModelsListCommand extends CliCommand {
  @Option(names = "--json", description = "One JSON object a model instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = out();
    ModelsFetchCommand.FetchConfig config =
        ConfigurationFile.bind(
                ModelsFetchCommand.FetchConfig.class,
                Path.of("the command line"),
                "data: {}",
                List.of())
            .config();
    JsonText text = new JsonText();
    for (ModelCache.Cached model : ModelCache.of(config.data(), _ -> {}).list()) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("model", model.name());
      line.put("bytes", model.bytes());
      line.put("commit", model.commit());
      line.put("folder", model.folder().toString());
      out.println(
          json
              ? text.line(line)
              : "%-40s %7.2f GB  %s".formatted(model.name(), model.bytes() / 1e9, model.folder()));
    }
    out.flush();
    return ExitCode.OK.code();
  }
}
