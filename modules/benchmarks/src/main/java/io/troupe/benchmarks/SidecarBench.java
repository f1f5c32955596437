package io.troupe.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.Endpoint;
import io.troupe.engine.http.FleetSampler;
import io.troupe.engine.http.WeightShelf;
import io.troupe.engine.http.protocol.Retry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench sidecar}: what it costs to sample over HTTP. Bursts over HTTP, from a server
 * in a process of its own, and bursts of the same engine in this process take turns.
 *
 * <p>An engine that answers at once shows the adapter alone: both sides' processor time a request,
 * and the time that one request takes longer.
 */
@Command(
    name = "sidecar",
    mixinStandardHelpOptions = true,
    description =
        "Measures what sampling over HTTP adds to a request, and what it takes from the throughput"
            + " of many, against the same engine in this process.",
    footer = {"", "Example:", "  troupe bench sidecar --rounds 7 --json result.json"})
final class SidecarBench implements Callable<Integer> {
  private static final double OVERHEAD_BAR_MS = 1;
  private static final double THROUGHPUT_BAR = .97;
  private static final int PROMPT = 16;
  private static final int LONE_REQUESTS = 200;
  private static final int WARM_UP_REQUESTS = 20_000;
  private static final int WARM_UP_SLICE = 1_000;
  private static final int WARM_UP_TOKENS = 4;
  private static final int WARM_UP_LONE = 3_000;
  private static final double WARM_UP_SECONDS = 60;
  private static final double MILLION = 1e6;
  private static final double BILLION = 1e9;

  @Option(
      names = "--rounds",
      defaultValue = "7",
      description = "Pairs of bursts, the median counts, default ${DEFAULT-VALUE}.")
  private int rounds = 7;

  @Option(
      names = "--concurrency",
      defaultValue = "64",
      description = "Requests at a time, default ${DEFAULT-VALUE}.")
  private int concurrency = 64;

  @Option(
      names = "--tokens",
      defaultValue = "128",
      description = "Most tokens of a completion, default ${DEFAULT-VALUE}.")
  private int tokens = 128;

  @Option(
      names = "--requests",
      defaultValue = "256",
      description = "Requests of a burst, default ${DEFAULT-VALUE}.")
  private int requests = 256;

  @Option(
      names = "--engine",
      defaultValue = "tiny",
      description =
          "Whose throughput is compared: ${COMPLETION-CANDIDATES}, default ${DEFAULT-VALUE}.")
  private SidecarEngine engine = SidecarEngine.TINY;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  private final AtomicLong leases = new AtomicLong();

  /** Both ways to the same engine. */
  private record Ways(SamplingEngine here, SamplingEngine there, LineProcess server) {}

  /** What is measured on two ways. */
  private interface Work {
    List<Measurement> on(Ways ways) throws IOException;
  }

  /** What a burst came to. */
  private record Burst(double seconds, long tokens, double cpuSeconds) {
    double rate() {
      return tokens / seconds;
    }

    double cpuPerToken() {
      return cpuSeconds / tokens;
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
    Report.print("%-58s %,10.3f %-9s %s%n", results);
    return Report.end(json, results);
  }

  private List<Measurement> with(SidecarEngine kind, Work work) throws IOException {
    Path folder = Files.createTempDirectory("troupe-bench-sidecar-");
    try (LineProcess server = LineProcess.java(SidecarServer.class, List.of(kind.name()));
        SidecarEngine.Open here = kind.open();
        FleetSampler there =
            new FleetSampler(
                kind.tokenizer(),
                SidecarEngine.CONTEXT,
                WeightShelf.open(folder, _ -> {}, WeightShelf.Lying.nowhere()),
                Retry.DEFAULT)) {
      int port = server.ask("").required("port").asInt();
      there.join("sidecar", Endpoint.of("http://127.0.0.1:" + port, concurrency));
      WeightSnapshot weights = SidecarEngine.weights(here.policy());
      here.sampler().load(weights).toCompletableFuture().join();
      there.load(weights).toCompletableFuture().join();
      Ways ways = new Ways(here.sampler(), there, server);
      warmUp(ways); // a run lasts for hours
      return work.on(ways);
    } finally {
      delete(folder);
    }
  }

  /** Many short requests over HTTP; fewer where the engine takes long for them. */
  private void warmUp(Ways ways) throws IOException {
    double seconds = 0;
    for (int made = 0;
        made < WARM_UP_REQUESTS && seconds < WARM_UP_SECONDS;
        made += WARM_UP_SLICE) {
      seconds += burst(ways, ways.there(), WARM_UP_SLICE, WARM_UP_TOKENS).seconds();
    }
  }

  /** The adapter alone, on an engine that takes no time. */
  private List<Measurement> adapter(Ways ways) throws IOException {
    double[] alone = new double[rounds];
    double[] busy = new double[rounds];
    double[] rates = new double[rounds];
    Burst _ = burst(ways, ways.there(), WARM_UP_LONE, tokens);
    for (int i = 0; i < WARM_UP_LONE; i += LONE_REQUESTS) {
      double _ = loneMillis(ways.there());
    }
    for (int round = 0; round < rounds; round++) {
      double here = loneMillis(ways.here());
      double there = loneMillis(ways.there());
      Burst burst = burst(ways, ways.there(), 4 * requests, tokens);
      alone[round] = there - here;
      busy[round] = burst.cpuSeconds() * 1000 / (4 * requests);
      rates[round] = 4 * requests / burst.seconds();
      System.err.printf(
          Locale.ROOT,
          "round %d of %d: a lone request takes %.3f ms longer; %d at a time %.3f ms of processor"
              + " time each%n",
          round + 1,
          rounds,
          alone[round],
          concurrency,
          busy[round]);
    }
    return List.of(
        new Measurement(
            "a lone request of %d tokens takes longer by".formatted(tokens),
            Report.median(alone),
            "ms",
            Double.NaN,
            OVERHEAD_BAR_MS,
            false),
        new Measurement(
            "processor time of a request, client and server, %d at a time".formatted(concurrency),
            Report.median(busy),
            "ms",
            Double.NaN,
            OVERHEAD_BAR_MS,
            false),
        new Measurement(
            "requests through the adapter, %d at a time".formatted(concurrency),
            Report.median(rates),
            "/s",
            Double.NaN,
            Double.NaN,
            true));
  }

  private List<Measurement> throughput(Ways ways) throws IOException {
    double[] here = new double[rounds];
    double[] there = new double[rounds];
    double[] ratios = new double[rounds];
    double[] shares = new double[rounds];
    double[] lengths = new double[rounds];
    for (int round = -1; round < rounds; round++) {
      boolean first = round % 2 == 0;
      Burst one = burst(ways, first ? ways.here() : ways.there(), requests, tokens);
      Burst other = burst(ways, first ? ways.there() : ways.here(), requests, tokens);
      if (round >= 0) {
        Burst inProcess = first ? one : other;
        Burst overHttp = first ? other : one;
        here[round] = inProcess.rate();
        there[round] = overHttp.rate();
        ratios[round] = there[round] / here[round];
        shares[round] = inProcess.cpuPerToken() / overHttp.cpuPerToken();
        lengths[round] = (double) overHttp.tokens() / requests;
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
    return List.of(
        new Measurement(
            name + " engine in process",
            Report.median(here),
            "tokens/s",
            Double.NaN,
            Double.NaN,
            true),
        new Measurement(
            name + " engine over HTTP",
            Report.median(there),
            "tokens/s",
            Double.NaN,
            Double.NaN,
            true),
        new Measurement(
            "  a completion", Report.median(lengths), "tokens", Double.NaN, Double.NaN, true),
        new Measurement(
            "  the ratio, median of %d rounds".formatted(rounds),
            Report.median(ratios),
            "",
            Double.NaN,
            THROUGHPUT_BAR,
            true),
        new Measurement(
            "  the ratio of tokens per second of processor time",
            Report.median(shares),
            "",
            Double.NaN,
            Double.NaN,
            true));
  }

  /** The median time of requests one after the other. */
  private double loneMillis(SamplingEngine way) {
    double[] millis = new double[LONE_REQUESTS];
    for (int i = 0; i < LONE_REQUESTS; i++) {
      SampleRequest request = request(tokens);
      long start = System.nanoTime();
      way.sample(List.of(request)).getFirst().toCompletableFuture().join();
      millis[i] = (System.nanoTime() - start) / MILLION;
    }
    return Report.median(millis);
  }

  /** So many requests, as many at a time as agreed. */
  private Burst burst(Ways ways, SamplingEngine way, int many, int most) throws IOException {
    long cpu = processors(ways.server());
    long start = System.nanoTime();
    AtomicLong left = new AtomicLong(many);
    AtomicLong drawn = new AtomicLong();
    List<CompletableFuture<?>> chains = new ArrayList<>();
    for (int i = 0; i < concurrency; i++) {
      chains.add(chain(way, most, left, drawn));
    }
    chains.forEach(CompletableFuture::join);
    double seconds = (System.nanoTime() - start) / BILLION;
    return new Burst(seconds, drawn.get(), (processors(ways.server()) - cpu) / BILLION);
  }

  /** One request after the other, as long as any are left. */
  private CompletableFuture<?> chain(
      SamplingEngine way, int most, AtomicLong left, AtomicLong drawn) {
    CompletableFuture<Boolean> over = new CompletableFuture<>();
    next(way, most, left, drawn, over);
    return over;
  }

  private void next(
      SamplingEngine way,
      int most,
      AtomicLong left,
      AtomicLong drawn,
      CompletableFuture<Boolean> over) {
    if (left.getAndDecrement() <= 0) {
      over.complete(true);
      return;
    }
    var _ =
        way.sample(List.of(request(most)))
            .getFirst()
            .whenCompleteAsync(
                (completions, failure) -> {
                  if (failure != null) {
                    over.completeExceptionally(failure);
                    return;
                  }
                  drawn.addAndGet(completions.stream().mapToLong(Completion::length).sum());
                  next(way, most, left, drawn, over);
                });
  }

  private SampleRequest request(int most) {
    long number = leases.incrementAndGet();
    int[] prompt = new int[PROMPT];
    Arrays.setAll(prompt, i -> (int) (2 + (number + i) % 50));
    return new SampleRequest(
        new LeaseId(new GroupId(number), 1),
        prompt,
        1,
        new SamplingSettings(1, most),
        number % requests);
  }

  private static long processors(LineProcess server) throws IOException {
    JsonNode answer = server.ask("");
    return answer.required("cpu_ns").asLong() + SidecarServer.processorNanos();
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
