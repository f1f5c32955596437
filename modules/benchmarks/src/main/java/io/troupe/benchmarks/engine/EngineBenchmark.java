package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.benchmarks.harness.PerformancePage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe bench engine}: the engine in this process beside PyTorch in Python. */
@Command(
    name = "engine",
    mixinStandardHelpOptions = true,
    description =
        "Compares the engine with a plain PyTorch program in Python: same architecture, same"
            + " weights, bursts in turn, medians of their ratios. Without PyTorch for Python it"
            + " measures ours alone and says so.",
    footer = {
      "",
      "Examples:",
      "  troupe bench engine --python venv/bin/python --update",
      "  troupe bench engine --only decode --rounds 3 --json result.json"
    })
public final class EngineBenchmark implements Callable<Integer> {
  /** What can be compared, by its name on the command line. */
  enum Part {
    DECODE,
    TRAIN;

    PyTorchComparison comparison() {
      return switch (this) {
        case DECODE -> new DecodeComparison();
        case TRAIN -> new TrainComparison();
      };
    }
  }

  @Option(
      names = "--python",
      defaultValue = "python3",
      description = "A Python interpreter with torch, default ${DEFAULT-VALUE}.")
  private String python = "python3";

  @Option(
      names = "--threads",
      defaultValue = "2",
      description = "PyTorch threads of each side, default ${DEFAULT-VALUE}.")
  private int threads = 2;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Pairs of bursts of a measurement, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Option(
      names = "--only",
      split = ",",
      description = "Parts to measure, default all: ${COMPLETION-CANDIDATES}.")
  private List<Part> parts = List.of(Part.values());

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  @Option(
      names = "--update",
      description = "Writes the table into its section of docs/performance.md.")
  private boolean update;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path scratch = Files.createTempDirectory("troupe-bench");
    Map<Part, List<PairedMeasurement>> results = new LinkedHashMap<>();
    try (PythonPeer peer = PythonPeer.start(python, threads)) {
      System.err.println(peer.describe());
      for (Part part : parts) {
        results.put(
            part,
            part.comparison().run(new PyTorchComparison.Setting(threads, rounds, peer, scratch)));
      }
      results.values().forEach(EngineBenchmark::report);
      if (json != null) {
        write(json, peer, results);
      }
      if (update) {
        for (Map.Entry<Part, List<PairedMeasurement>> part : results.entrySet()) {
          PerformancePage.update(
              "engine " + name(part.getKey()), intro(part.getKey(), peer), part.getValue());
        }
      }
    } finally {
      FileTree.delete(scratch);
    }
    return results.values().stream().flatMap(List::stream).allMatch(PairedMeasurement::ok) ? 0 : 4;
  }

  private String intro(Part part, PythonPeer peer) {
    return "%s, `troupe bench engine --only %s --rounds %d --threads %d`: ours on libtorch through DJL; %s."
        .formatted(LocalDate.now(ZoneOffset.UTC), name(part), rounds, threads, peer.describe());
  }

  private static String name(Part part) {
    return part.name().toLowerCase(Locale.ROOT);
  }

  private static void report(List<PairedMeasurement> results) {
    System.out.printf(
        Locale.ROOT, "%-58s %11s %11s %7s %6s%n", "", "ours", "PyTorch", "ratio", "bar");
    for (PairedMeasurement result : results) {
      System.out.printf(
          Locale.ROOT,
          "%-58s %11s %11s %7s %6s  %s%n",
          result.name() + ", " + result.unit(),
          PerformancePage.number(result.ourMedian()),
          PerformancePage.number(result.theirMedian()),
          PerformancePage.number(result.ratio()),
          PerformancePage.bar(result),
          result.ok() ? "ok" : "MISSED");
    }
  }

  private static void write(Path file, PythonPeer peer, Map<Part, List<PairedMeasurement>> results)
      throws IOException {
    List<Map<String, Object>> rows = new ArrayList<>();
    results.values().forEach(part -> part.forEach(row -> rows.add(row.json())));
    Files.writeString(
        file,
        JsonMapper.builder()
            .build()
            .writerWithDefaultPrettyPrinter()
            .writeValueAsString(Map.of("pytorch", peer.describe(), "measurements", rows)));
  }
}
