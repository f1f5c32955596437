package io.troupe.benchmarks.gateway;

import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.RoundsOption;
import io.troupe.gateway.GatewayServer;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench gateway}: what the gateway adds to a turn, with a policy that answers at
 * once. Agents of this process ask over HTTP, so their own time counts, too.
 */
@Command(
    name = "gateway",
    mixinStandardHelpOptions = true,
    description =
        "Measures the time of a turn and the turns a second of the gateway that agents ask, with a"
            + " policy that answers at once.",
    footer = {"", "Example:", "  troupe bench gateway --episodes 200 --json result.json"})
public final class GatewayBenchmark implements Callable<Integer> {
  private static final double TURN_BAR_MILLIS = 2;
  private static final double RATE_BAR = 500;
  private static final double IDLE_BAR_MIB = 1024;

  @Option(names = "--episodes", description = "Episodes of a round, ${DEFAULT-VALUE}.")
  private int episodes = 100;

  @Option(names = "--turns", description = "Turns of an episode, ${DEFAULT-VALUE}.")
  private int turns = 10;

  @Option(names = "--agents", description = "Agents at a time, for the rate, ${DEFAULT-VALUE}.")
  private int agents = 8;

  @Option(
      names = "--idle",
      description = "Episodes that stay open at a time, for the heap, ${DEFAULT-VALUE}.")
  private int idle = 2_000;

  @Mixin private final RoundsOption rounds = new RoundsOption(5);

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Override
  public Integer call() throws IOException, InterruptedException, ExecutionException {
    if (episodes < 1 || turns < 1 || agents < 1 || idle < 1 || rounds.value() < 1) {
      System.err.println("error: --episodes, --turns, --agents, --idle and --rounds are 1 or more");
      return 2;
    }
    double[] millis = new double[rounds.value()];
    double[] rates = new double[rounds.value()];
    double held;
    try (GatewayServer server = GatewayServer.start()) {
      double _ = rate(server, agents);
      for (int round = 0; round < rounds.value(); round++) {
        millis[round] =
            BenchmarkReport.median(new BenchmarkAgent(server, turns).episodes(episodes));
        rates[round] = rate(server, agents);
      }
      held = new BenchmarkAgent(server, turns).idle(idle) / (double) (1 << 20);
    }
    List<Measurement> results =
        List.of(
            new Measurement(
                "a turn of one agent, with its own HTTP client",
                BenchmarkReport.median(millis),
                "ms",
                Double.NaN,
                TURN_BAR_MILLIS,
                false),
            new Measurement(
                "turns of %d agents at a time".formatted(agents),
                BenchmarkReport.median(rates),
                "/s",
                Double.NaN,
                RATE_BAR,
                true),
            new Measurement(
                "heap of %,d idle episodes of %d turns".formatted(idle, turns),
                held,
                "MiB",
                Double.NaN,
                IDLE_BAR_MIB,
                false));
    BenchmarkReport.print("%-56s %,10.2f %-4s %s%n", results);
    return resultFile.end(results);
  }

  /** Turns a second of agents that ask side by side. */
  private double rate(GatewayServer server, int count)
      throws InterruptedException, ExecutionException {
    long start = System.nanoTime();
    long answered = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
      List<Future<double[]>> asked =
          IntStream.range(0, count)
              .mapToObj(
                  _ ->
                      threads.submit(
                          () ->
                              new BenchmarkAgent(server, turns)
                                  .episodes(Math.max(1, episodes / count))))
              .toList();
      for (Future<double[]> each : asked) {
        answered += DoubleStream.of(each.get()).count();
      }
    }
    return answered * 1e9 / (System.nanoTime() - start);
  }

  /** Returns the elements of several arrays in one. */
  static double[] joined(List<double[]> parts) {
    return Stream.of(parts.toArray(double[][]::new)).flatMapToDouble(DoubleStream::of).toArray();
  }
}
