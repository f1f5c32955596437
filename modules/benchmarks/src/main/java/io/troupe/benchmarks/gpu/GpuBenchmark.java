package io.troupe.benchmarks.gpu;

import io.troupe.base.files.FileTree;
import io.troupe.base.process.ExitCode;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.harness.BenchmarkCommands;
import io.troupe.benchmarks.harness.PerformancePage;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.UpdateOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench gpu}: the rows of a GPU, each beside plain PyTorch. */
@Command(
    name = "gpu",
    mixinStandardHelpOptions = true,
    description = {
      "Measures trainer, optimizer, copies, collectives and publication on a GPU with random"
          + " weights in the shapes of Qwen3-0.6B, 1.7B and 4B, each beside the same in plain"
          + " PyTorch of the same environment. Each row is a process of its own and takes less than"
          + " ten minutes; nothing needs a network.",
      "With --device cpu --shape tiny every row is rehearsed on the CPU: same programs, no numbers"
          + " of a GPU.",
      "Exit code 0 if every bar is met, 2 if something is missing, which is named, 4 if a row"
          + " failed or missed a bar."
    },
    footer = {
      "",
      "Rows: g1 binding, g2 steps, g3 memory, g4 AdamW, g5 copies, g6 to g8 NCCL, p1 to p5 loads"
          + " with published",
      "figures, d1 publication and log-probabilities.",
      "",
      "Examples:",
      "  TROUPE_TORCH=~/vllm-env troupe bench gpu --only g1,g4 --sources djl-0.35.1.tar.gz",
      "  TROUPE_TORCH=~/vllm-env troupe bench gpu --json gpu.json --update",
      "  TROUPE_TORCH=~/vllm-env troupe bench gpu --shape tiny",
      "  troupe bench gpu --device cpu --shape tiny --python venv/bin/python"
    })
public final class GpuBenchmark implements Callable<Integer> {
  /** The device on which the rows compute. */
  enum ComputeDevice {
    CUDA,
    CPU
  }

  /** The sizes of the models. */
  enum ModelShape {
    REAL,
    TINY
  }

  @Option(
      names = "--only",
      split = ",",
      description = "Rows to measure, default all: ${COMPLETION-CANDIDATES}.")
  private List<GpuRow> only = List.of(GpuRow.values());

  @Option(names = "--device", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
  private ComputeDevice device = ComputeDevice.CUDA;

  @Option(names = "--shape", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
  private ModelShape shape = ModelShape.REAL;

  @Option(
      names = "--torch",
      paramLabel = "PLACE",
      description = "The installed PyTorch, default that of TROUPE_TORCH.")
  private String torch = "";

  @Option(
      names = "--python",
      description = "A Python interpreter with torch, default that of the environment.")
  private String python = "";

  @Option(
      names = "--sources",
      paramLabel = "FILE",
      description =
          "An archive of DJL's sources: row g1 builds the binding of it and measures that.")
  private String sources = "";

  @Option(
      names = "--limit",
      paramLabel = "SECONDS",
      description = "A part of a row is ended after this time, default ${DEFAULT-VALUE}.")
  private int limit = 570;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Mixin private final UpdateOption update = new UpdateOption();

  /** Runs this command alone, on a machine that has not the libraries of the others. */
  public static void main(String[] arguments) {
    System.exit(BenchmarkCommands.execute(new GpuBenchmark(), arguments));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (device == ComputeDevice.CPU && (shape == ModelShape.REAL || update.given())) {
      System.err.println(
          "error: --device cpu rehearses, and takes --shape tiny and no --update: a CPU gives no"
              + " numbers of a GPU");
      return ExitCode.USAGE.code();
    }
    Set<GpuRow> rows = EnumSet.copyOf(only);
    GpuPreparation preparation =
        new GpuPreparation(
            torch,
            python,
            sources,
            shape == ModelShape.TINY,
            !rows.contains(GpuRow.G1) || sources.isEmpty());
    Path scratch = Files.createTempDirectory("troupe-bench-gpu");
    try {
      if (device == ComputeDevice.CPU) {
        return measure(preparation.rehearsal(scratch), rows);
      }
      GpuPreparation.Prepared prepared = preparation.gpu();
      if (prepared.setting().isEmpty()) {
        System.err.println("error: the rows cannot be measured here:");
        prepared.missing().forEach(line -> System.err.println("  - " + line));
        return ExitCode.USAGE.code();
      }
      return measure(prepared.setting().get(), rows);
    } finally {
      FileTree.delete(scratch);
    }
  }

  private int measure(GpuSetting setting, Set<GpuRow> rows)
      throws IOException, InterruptedException {
    List<GpuReport.Result> results = new ArrayList<>();
    System.err.println(new GpuReport(setting, results).title());
    for (GpuRow row : rows) {
      if (row.host() == row || !rows.contains(row.host())) {
        List<GpuRow.Part> parts = row.parts();
        for (int part = 0; part < parts.size(); part++) {
          results.add(result(setting, rows, row, part));
          GpuReport report = new GpuReport(setting, results);
          // Results so far survive an end of the machine.
          resultFile.write(GpuRowProcess.JSON.valueToTree(report.json()));
        }
      }
    }
    GpuReport report = new GpuReport(setting, results);
    report.print();
    if (update.given()) {
      PerformancePage.replace(
          "gpu",
          "%s, `troupe bench gpu`: %s.%n%n%s"
              .formatted(LocalDate.now(ZoneOffset.UTC), report.title(), report.markdown()));
    }
    return (report.isKept() ? ExitCode.OK : ExitCode.FAILED).code();
  }

  private GpuReport.Result result(GpuSetting setting, Set<GpuRow> rows, GpuRow row, int index)
      throws InterruptedException {
    GpuRow.Part part = row.parts().get(index);
    System.err.printf("%s %s %s%n", row.label(), row.title(), part.label());
    long start = System.nanoTime();
    GpuWork.Outcome outcome = new GpuWork.Outcome(List.of(), List.of());
    String failure = "";
    Optional<String> obstacle = row.obstacle(setting, part);
    if (obstacle.isPresent()) {
      outcome = GpuWork.Outcome.unmeasured("not measured: " + obstacle.get());
    } else {
      try {
        outcome =
            chosen(
                GpuRowProcess.run(row, index, setting, Duration.ofSeconds(limit)), setting, rows);
      } catch (IOException failed) {
        failure = String.valueOf(failed.getMessage());
        System.err.printf("%s failed: %s%n", row.label(), failure);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new GpuReport.Result(row, part.label(), outcome, failure, seconds);
  }

  /** Leaves out the rows that were not asked for; a rehearsal has no bars. */
  private static GpuWork.Outcome chosen(
      GpuWork.Outcome outcome, GpuSetting setting, Set<GpuRow> rows) {
    return new GpuWork.Outcome(
        outcome.measurements().stream()
            .filter(each -> rows.contains(each.row()))
            .map(each -> setting.rehearsal() || setting.tiny() ? each.withoutBar() : each)
            .toList(),
        outcome.notes());
  }
}
