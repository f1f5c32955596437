package io.troupe.cli.export;

import com.fasterxml.jackson.core.JsonGenerator;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.cli.ops.ConsoleClient;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.telemetry.export.ChromeTrace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe trace}: a run's journal as a trace for Perfetto. */
@Command(
    name = "trace",
    description = "Writes a run's journal as a trace for ui.perfetto.dev or chrome://tracing.",
    footer = {"", "Example:", "  troupe trace quickstart-20261121-140200 -o trace.json"})
public final class TraceCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "Where to write; an existing file is replaced.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException {
    Path file = Objects.requireNonNull(output);
    RunFolder folder = run.open();
    try (RunJournal journal = RunJournal.open(folder.journal());
        JsonGenerator json =
            ConsoleClient.JSON.getFactory().createGenerator(Files.newOutputStream(file))) {
      json.writeStartArray();
      ChromeTrace trace =
          new ChromeTrace(
              event -> {
                try {
                  json.writePOJO(event);
                } catch (IOException disk) {
                  throw new UncheckedIOException(disk);
                }
              });
      journal.forEachNext(
          entry -> entry.events().forEach(event -> trace.event(entry.atMillis(), event)));
      json.writeEndArray();
    } catch (UncheckedIOException disk) {
      throw new IOException("cannot write %s: %s".formatted(file, disk.getMessage()), disk);
    }
    System.err.println("%s: open it in https://ui.perfetto.dev".formatted(file));
    return 0;
  }
}
