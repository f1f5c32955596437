package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.net.HostNamespaces;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.WorkerProcess;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Weights between two hosts with a link of 1 Gbit/s: a first version whole, the next ones as
 * deltas. The hosts are network namespaces of this machine, and the link is shaped.
 *
 * @param layers of Qwen3-4B that the weights have; 4B has 36 and its embedding
 * @param versions that follow the first
 * @param threads of each host that code deltas and make chunks of them; 0 means what the host
 *     spares
 */
record TwoHostsMeasurement(int layers, int versions, int threads) {
  private static final int MEGABITS = 1000;
  private static final double BYTES_OF_4B = 2.0 * 4_022_468_096L;
  private static final double DELTA_BAR = 5;

  /** Room for headers and for what the bucket lets through at once. */
  private static final double MOST_BYTES_A_SECOND = 1.05 * MEGABITS * 1e6 / Byte.SIZE;

  private static final String LINE = "%-64s %10.2f %-8s %s%n";

  /** Returns why this machine cannot play two hosts. */
  static Optional<String> obstacle() throws InterruptedException {
    return HostNamespaces.possible()
        ? Optional.empty()
        : Optional.of(
            "two hosts need network and user namespaces and the programs ip, tc, unshare and nsenter:"
                + " use Linux, apt-get install iproute2 util-linux, and outside a container that forbids namespaces");
  }

  /** Measures, prints, and returns the results. */
  List<Measurement> run(Path directory) throws IOException, InterruptedException {
    String secret = RunSecret.random().hex();
    try (HostNamespaces hosts = HostNamespaces.of(2)) {
      hosts.shape(1, MEGABITS);
      hosts.shape(2, MEGABITS);
      try (WorkerProcess publisher = host(hosts, 1, directory, secret);
          WorkerProcess receiver = host(hosts, 2, directory, secret)) {
        return exchanged(publisher, receiver);
      }
    }
  }

  private WorkerProcess host(HostNamespaces hosts, int number, Path directory, String secret)
      throws IOException {
    return WorkerProcess.java(
        hosts.on(number),
        HostNode.class,
        List.of(
            HostNamespaces.address(number),
            directory.resolve("host" + number).toString(),
            secret,
            Integer.toString(threads)));
  }

  private List<Measurement> exchanged(WorkerProcess publisher, WorkerProcess receiver)
      throws IOException {
    long bytes = MovedWeightsFile.bytes(layers);
    double scale = BYTES_OF_4B / bytes;
    List<Measurement> results = new ArrayList<>();
    List<Double> seconds = new ArrayList<>();
    List<Double> busy = new ArrayList<>();
    List<Double> senders = new ArrayList<>();
    double share = 0;
    for (int version = 1; version <= 1 + versions; version++) {
      JsonNode published = publisher.ask("publish %d %d".formatted(layers, version));
      double before = publisher.ask("busy").required("busy").asDouble();
      JsonNode fetched =
          receiver.ask("fetch %d %s".formatted(version, published.required("place").asText()));
      double sender = publisher.ask("busy").required("busy").asDouble() - before;
      double time = fetched.required("seconds").asDouble();
      double came = fetched.required("bytes").asDouble();
      System.err.printf(
          Locale.ROOT,
          "version %d: %,.0f bytes in %.2f s, processor time %.2f s here, %.2f s there%n",
          version,
          came,
          time,
          sender,
          fetched.required("busy").asDouble());
      if (came / time > MOST_BYTES_A_SECOND) {
        throw new IOException("the link was faster than 1 Gbit/s: it is not shaped");
      }
      if (version == 1) {
        results.add(row("a version whole", time, "s", Double.NaN));
        results.add(row("a version whole, in proportion to 4B", time * scale, "s", Double.NaN));
      } else {
        seconds.add(time);
        busy.add(fetched.required("busy").asDouble());
        senders.add(sender);
        share += came / bytes / versions;
      }
    }
    double median = median(seconds);
    results.add(row("the next version", median, "s", Double.NaN));
    results.add(row("the next version, in proportion to 4B", median * scale, "s", DELTA_BAR));
    results.add(
        row(
            "its processor time, sender, in proportion to 4B",
            median(senders) * scale,
            "s",
            Double.NaN));
    results.add(
        row(
            "its processor time, receiver, in proportion to 4B",
            median(busy) * scale,
            "s",
            Double.NaN));
    results.add(row("bytes of the next version, of the whole", 100 * share, "%", 5));
    System.out.printf(
        Locale.ROOT,
        "two hosts at %d Mbit/s; %d layers of Qwen3-4B in bfloat16, %,d bytes, 1 / %.2f of 4B; AdamW at %.0e%n",
        MEGABITS,
        layers,
        bytes,
        scale,
        MovedWeightsFile.LEARNING_RATE);
    BenchmarkReport.print(LINE, results);
    return results;
  }

  private static double median(List<Double> values) {
    return BenchmarkReport.median(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private static Measurement row(String name, double value, String unit, double bar) {
    return new Measurement(name, value, unit, Double.NaN, bar, false);
  }
}
