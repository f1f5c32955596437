package io.troupe.benchmarks.engine;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
      "  troupe bench engine --rounds 3 --json result.json"
    })
public final class EngineBenchmark implements Callable<Integer> {
  @Mixin private final ComparisonOptions options = new ComparisonOptions(2);

  @Override
  public Integer call() throws IOException, InterruptedException {
    return options.run("engine", Map.of("decode", new DecodeComparison()));
  }
}
