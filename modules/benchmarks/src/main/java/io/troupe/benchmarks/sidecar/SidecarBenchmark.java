package io.troupe.benchmarks.sidecar;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.WorkerProcess;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.FleetSampler;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.ServerWeightFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench sidecar}: what it costs to sample over HTTP. A server in a process of its own
 * samples bursts for this one, and the same bursts on the same engine within its own process; the
 * two take turns, so that what changes slowly on the machine adds to both alike.
 *
 * <p>An engine that answers at once shows the adapter alone: both sides' CPU time a request, and
 * the time that one request takes longer.
 */
@Command(
    name = "sidecar",
    mixinStandardHelpOptions = true,
    description =
        "Measures what sampling over HTTP adds to a request, and what it takes from the throughput"
            + " of many, against the same engine in its own process.",
    footer = {"", "Example:", "  troupe bench sidecar --rounds 15 --json result.json"})
public final class SidecarBenchmark implements Callable<Integer> {
  private static final double OVERHEAD_BAR_MS = 1;
  private static final double THROUGHPUT_BAR = .97;
  private static final int ADAPTER_ROUNDS = 7;
  private static final int LONE_REQUESTS = 200;
  private static final int WARM_UP_REQUESTS = 20_000;
  private static final int WARM_UP_SLICE = 1_000;
  private static final int WARM_UP_TOKENS = 4;
  private static final int WARM_UP_LONE = 3_000;
  private static final double WARM_UP_SECONDS = 60;
  private static final double BILLION = 1e9;

  @Option(
      names = "--rounds",
      description =
          "How many times in process, over HTTP, over HTTP, in process; the median counts, default"
              + " ${DEFAULT-VALUE}.")
  private int rounds = 15;

  @Option(names = "--concurrency", description = "Requests at a time, default ${DEFAULT-VALUE}.")
  private int concurrency = 64;

  @Option(
      names = "--tokens",
      description = "Most tokens of a completion, default ${DEFAULT-VALUE}.")
  private int tokens = 128;

  @Option(names = "--requests", description = "Requests of a burst, default ${DEFAULT-VALUE}.")
  private int requests = 256;

  @Option(
      names = "--engine",
      defaultValue = "tiny",
      description =
          "Whose throughput is compared: ${COMPLETION-CANDIDATES}, default ${DEFAULT-VALUE}.")
  private SidecarEngine engine = SidecarEngine.TINY;

  @Mixin private final ResultFile resultFile = new ResultFile();

  /** The two ways to one engine. */
  private record Ways(WorkerProcess server, ClosedLoopLoad overHttp) {
    Timed inProcess(ClosedLoopLoad.Form form) throws IOException {
      long cpu = cpu();
      JsonNode burst =
          server.ask(
              "burst %d %d %d".formatted(form.requests(), form.concurrency(), form.tokens()));
      return new Timed(
          new ClosedLoopLoad.Burst(
              burst.required("seconds").asDouble(), burst.required("tokens").asLong()),
          (cpu() - cpu) / BILLION);
    }

    Timed overHttp(ClosedLoopLoad.Form form) throws IOException {
      long cpu = cpu();
      ClosedLoopLoad.Burst burst = overHttp.burst(form);
      return new Timed(burst, (cpu() - cpu) / BILLION);
    }

    private long cpu() throws IOException {
      return server.ask("cpu").required("cpu_ns").asLong() + SidecarServer.processorNanos();
    }
  }

  /** A workload that is measured on two ways. */
  private interface Work {
    List<Measurement> on(Ways ways) throws IOException;
  }

  /** A burst with both processes' CPU time. */
  private record Timed(ClosedLoopLoad.Burst burst, double cpuSeconds) {
    Timed plus(Timed other) {
      return new Timed(
          new ClosedLoopLoad.Burst(
              burst.seconds() + other.burst.seconds(), burst.tokens() + other.burst.tokens()),
          cpuSeconds + other.cpuSeconds);
    }

    double cpuPerToken() {
      return cpuSeconds / burst.tokens();
    }
  }

  @Override
  public Integer call() throws IOException {
    if (rounds < 1 || concurrency < 1 || tokens < 1 || requests < concurrency) {
      System.err.printf(
          "error: --rounds %d --concurrency %d --tokens %d --requests %d: all are 1 or more, and a"
              + " burst has at least as many requests as run at a time%n",
          rounds, concurrency, tokens, requests);
      return 2;
    }
    List<Measurement> results = new ArrayList<>(with(SidecarEngine.INSTANT, this::adapter));
    results.addAll(with(engine, this::throughput));
    BenchmarkReport.print("%-68s %,10.3f %-9s %s%n", results);
    return resultFile.end(results);
  }

  private List<Measurement> with(SidecarEngine kind, Work work) throws IOException {
    Path folder = Files.createTempDirectory("troupe-bench-sidecar-");
    try (WorkerProcess server = WorkerProcess.java(SidecarServer.class, List.of(kind.name()));
        FleetSampler fleet =
            new FleetSampler(
                kind.tokenizer(),
                SidecarEngine.CONTEXT,
                ServerWeightFolder.open(
                    folder, _ -> {}, ServerWeightFolder.WeightFileFinder.none()),
                RetryPolicy.DEFAULT)) {
      int port = server.ask("port").required("port").asInt();
      fleet.join("sidecar", InferenceEndpoint.of("http://127.0.0.1:" + port, concurrency));
      fleet.load(kind.weights()).toCompletableFuture().join();
      Ways ways = new Ways(server, new ClosedLoopLoad(fleet));
      warmUp(ways); // a run lasts for hours
      return work.on(ways);
    } finally {
      FileTree.delete(folder);
    }
  }

  private ClosedLoopLoad.Form form(int many, int most) {
    return new ClosedLoopLoad.Form(many, concurrency, most);
  }

  /** Many short requests over HTTP; fewer where the engine takes long for them. */
  private void warmUp(Ways ways) throws IOException {
    double seconds = 0;
    for (int made = 0;
        made < WARM_UP_REQUESTS && seconds < WARM_UP_SECONDS;
        made += WARM_UP_SLICE) {
      seconds += ways.overHttp(form(WARM_UP_SLICE, WARM_UP_TOKENS)).burst().seconds();
    }
  }

  /** The adapter alone, on an engine that takes no time. */
  private List<Measurement> adapter(Ways ways) throws IOException {
    double[] alone = new double[ADAPTER_ROUNDS];
    double[] busy = new double[ADAPTER_ROUNDS];
    double[] rates = new double[ADAPTER_ROUNDS];
    ClosedLoopLoad.Form form = form(4 * requests, tokens);
    Timed _ = ways.overHttp(form(WARM_UP_LONE, tokens));
    double _ = ways.overHttp().loneMillis(WARM_UP_LONE, tokens);
    for (int round = 0; round < ADAPTER_ROUNDS; round++) {
      double within =
          ways.server()
              .ask("lone %d %d".formatted(LONE_REQUESTS, tokens))
              .required("ms")
              .asDouble();
      alone[round] = ways.overHttp().loneMillis(LONE_REQUESTS, tokens) - within;
      Timed burst = ways.overHttp(form);
      busy[round] = burst.cpuSeconds() * 1000 / form.requests();
      rates[round] = form.requests() / burst.burst().seconds();
      System.err.printf(
          Locale.ROOT,
          "round %d of %d: a lone request takes %.3f ms longer; %d at a time %.3f ms of processor"
              + " time each%n",
          round + 1,
          ADAPTER_ROUNDS,
          alone[round],
          concurrency,
          busy[round]);
    }
    return List.of(
        new Measurement(
            "a lone request of %d tokens takes longer by".formatted(tokens),
            BenchmarkReport.median(alone),
            "ms",
            Double.NaN,
            OVERHEAD_BAR_MS,
            false),
        new Measurement(
            "CPU time of a request, client and server, %d at a time".formatted(concurrency),
            BenchmarkReport.median(busy),
            "ms",
            Double.NaN,
            OVERHEAD_BAR_MS,
            false),
        told("requests through the adapter, %d at a time".formatted(concurrency), rates, "/s"));
  }

  private List<Measurement> throughput(Ways ways) throws IOException {
    double[] here = new double[rounds];
    double[] there = new double[rounds];
    double[] ratios = new double[rounds];
    double[] shares = new double[rounds];
    double[] lengths = new double[rounds];
    ClosedLoopLoad.Form form = form(requests, tokens);
    for (int round = -1; round < rounds; round++) {
      Timed first = ways.inProcess(form);
      Timed overHttp = ways.overHttp(form).plus(ways.overHttp(form));
      Timed inProcess = first.plus(ways.inProcess(form));
      if (round >= 0) {
        here[round] = inProcess.burst().rate();
        there[round] = overHttp.burst().rate();
        ratios[round] = there[round] / here[round];
        shares[round] = inProcess.cpuPerToken() / overHttp.cpuPerToken();
        lengths[round] = (double) overHttp.burst().tokens() / (2 * requests);
        System.err.printf(
            Locale.ROOT,
            "round %d of %d: %.0f tokens/s over HTTP, %.0f in process, ratio %.3f; of processor"
                + " time %.3f%n",
            round + 1,
            rounds,
            there[round],
            here[round],
            ratios[round],
            shares[round]);
      }
    }
    String name = engine.name().toLowerCase(Locale.ROOT);
    BenchmarkReport.ValueRange range = BenchmarkReport.rangeOfMedian(ratios);
    return List.of(
        told(name + " engine in process", here, "tokens/s"),
        told(name + " engine over HTTP", there, "tokens/s"),
        told("  a completion", lengths, "tokens"),
        new Measurement(
            String.format(
                Locale.ROOT,
                "  the ratio, median of %d rounds (95 %%: %.3f to %.3f)",
                rounds,
                range.low(),
                range.high()),
            BenchmarkReport.median(ratios),
            "",
            Double.NaN,
            THROUGHPUT_BAR,
            true),
        told("  the ratio of tokens per second of CPU time", shares, ""));
  }

  /** The median of what no bar judges. */
  private static Measurement told(String name, double[] values, String unit) {
    return new Measurement(
        name, BenchmarkReport.median(values), unit, Double.NaN, Double.NaN, true);
  }
}
