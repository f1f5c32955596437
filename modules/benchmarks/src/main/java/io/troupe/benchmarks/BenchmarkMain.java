package io.troupe.benchmarks;

import io.troupe.benchmarks.console.ConsoleBenchmark;
import io.troupe.benchmarks.control.ControlPlaneBenchmark;
import io.troupe.benchmarks.control.JournalBenchmark;
import io.troupe.benchmarks.engine.BatchInvarianceBenchmark;
import io.troupe.benchmarks.engine.EngineBenchmark;
import io.troupe.benchmarks.engine.MemoryBenchmark;
import io.troupe.benchmarks.engine.TrainerBenchmark;
import io.troupe.benchmarks.gateway.GatewayBenchmark;
import io.troupe.benchmarks.gpu.GpuBenchmark;
import io.troupe.benchmarks.harness.BenchmarkCommands;
import io.troupe.benchmarks.sidecar.SidecarBenchmark;
import io.troupe.benchmarks.simulator.SimulatorBenchmark;
import io.troupe.benchmarks.weights.TlsBenchmark;
import io.troupe.benchmarks.weights.WeightTransferBenchmark;
import picocli.CommandLine.Command;

/** {@code troupe bench}: measurements, each with the number it is compared with. */
@Command(
    name = "troupe bench",
    mixinStandardHelpOptions = true,
    description = "Measures, and compares with what was measured beside it.",
    subcommands = {
      QuickstartBenchmark.class,
      EngineBenchmark.class,
      BatchInvarianceBenchmark.class,
      TrainerBenchmark.class,
      GpuBenchmark.class,
      MemoryBenchmark.class,
      VerifierBenchmark.class,
      EvaluationBenchmark.class,
      WeightTransferBenchmark.class,
      ControlPlaneBenchmark.class,
      JournalBenchmark.class,
      TlsBenchmark.class,
      SidecarBenchmark.class,
      ConsoleBenchmark.class,
      GatewayBenchmark.class,
      SimulatorBenchmark.class
    },
    footer = {
      "",
      "Examples:",
      "  troupe bench quickstart --json result.json",
      "  troupe bench engine --python venv/bin/python --update",
      "  troupe bench batch-invariance",
      "  troupe bench trainer --python venv/bin/python --update",
      "  troupe bench gpu --device cpu --shape tiny",
      "  troupe bench memory --plot memory.svg",
      "  troupe bench verifiers",
      "  troupe bench evaluation quickstart-20261121-140200",
      "  troupe bench weights --bytes 2g --nodes 2 --workers 8",
      "  troupe bench weights --deltas",
      "  troupe bench weights --two-hosts",
      "  troupe bench control-plane",
      "  troupe bench journal --groups 10000000",
      "  troupe bench tls",
      "  troupe bench sidecar",
      "  troupe bench console",
      "  troupe bench gateway",
      "  troupe bench simulator --update"
    })
public final class BenchmarkMain {
  private BenchmarkMain() {}

  /** Runs a measurement; exit code 0 if every bar is met, 4 if not, 2 for bad usage. */
  public static void main(String[] arguments) {
    System.exit(BenchmarkCommands.execute(new BenchmarkMain(), arguments));
  }
}
