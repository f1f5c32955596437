package io.troupe.benchmarks.harness;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names a file for the results of a benchmark. */
public final class ResultFile {
  private static final int MISSED = 4;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  /** Writes the measurements, if a file is named; returns the exit code. */
  public int end(List<Measurement> results) throws IOException {
    write(results.stream().map(Measurement::json).toList());
    return results.stream().allMatch(Measurement::ok) ? 0 : MISSED;
  }

  /** Writes a value as JSON, if a file is named. */
  public void write(Object results) throws IOException {
    if (json != null) {
      Files.writeString(
          json,
          JsonMapper.builder()
              .build()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(results));
    }
  }
}
