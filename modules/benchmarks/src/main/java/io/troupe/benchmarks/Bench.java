package io.troupe.benchmarks;

import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code troupe bench}: measurements, each with the number it is compared with. */
@Command(
    name = "troupe bench",
    mixinStandardHelpOptions = true,
    description = "Measures, and compares with what was measured beside it.",
    subcommands = {
      QuickstartBench.class,
      EngineBench.class,
      MemoryBench.class,
      VerifierBench.class,
      WeightsBench.class,
      ControlPlaneBench.class,
      JournalBench.class,
      TlsBench.class,
      SidecarBench.class,
      ConsoleBench.class
    },
    footer = {
      "",
      "Examples:",
      "  troupe bench quickstart --json result.json",
      "  troupe bench engine --python venv/bin/python --update",
      "  troupe bench memory --plot memory.svg",
      "  troupe bench verifiers",
      "  troupe bench weights --bytes 2g --nodes 2 --workers 8",
      "  troupe bench control-plane",
      "  troupe bench journal --groups 10000000",
      "  troupe bench tls",
      "  troupe bench sidecar",
      "  troupe bench console"
    })
public final class Bench {
  private static final int FAILED = 4;

  private Bench() {}

  /** Runs a measurement; exit code 0 if every bar is met, 4 if not, 2 for bad usage. */
  public static void main(String[] arguments) {
    System.exit(
        new CommandLine(new Bench())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler((failure, _, _) -> told(failure))
            .execute(arguments));
  }

  /**
   * What can go wrong in the world is a sentence; anything else is our fault and keeps its stack.
   */
  private static int told(Exception failure) throws Exception {
    if (!(failure instanceof IOException)) {
      throw failure;
    }
    System.err.println("error: " + failure.getMessage());
    return FAILED;
  }
}
