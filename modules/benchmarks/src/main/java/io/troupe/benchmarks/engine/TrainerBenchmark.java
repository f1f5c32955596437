package io.troupe.benchmarks.engine;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench trainer}: the trainer's parts beside plain PyTorch. */
@Command(
    name = "trainer",
    mixinStandardHelpOptions = true,
    description =
        "Compares the trainer with plain PyTorch in Python: AdamW by the parameter, and whole"
            + " training steps with their peak of memory. Counts what passes between two ranks, and"
            + " between them and their coordinator, which has nothing beside it. Without PyTorch for Python it measures"
            + " ours alone and says so.",
    footer = {
      "",
      "Examples:",
      "  troupe bench trainer --python venv/bin/python --threads 1 --update",
      "  troupe bench trainer --only adamw --rounds 3"
    })
public final class TrainerBenchmark implements Callable<Integer> {
  /** The parts that can be compared, by their names on the command line. */
  enum Part {
    ADAMW,
    STEP,
    RANKS;

    PyTorchComparison comparison() {
      return switch (this) {
        case ADAMW -> new AdamWComparison();
        case STEP -> new TrainComparison();
        case RANKS -> new RankExchangeMeasurement();
      };
    }
  }

  @Mixin private final ComparisonOptions options = new ComparisonOptions(1);

  @Option(
      names = "--only",
      split = ",",
      description = "Parts to measure, default all: ${COMPLETION-CANDIDATES}.")
  private List<Part> parts = List.of(Part.values());

  @Override
  public Integer call() throws IOException, InterruptedException {
    Map<String, PyTorchComparison> comparisons = new LinkedHashMap<>();
    for (Part part : parts) {
      comparisons.put(part.name().toLowerCase(Locale.ROOT), part.comparison());
    }
    return options.run("trainer", comparisons);
  }
}
