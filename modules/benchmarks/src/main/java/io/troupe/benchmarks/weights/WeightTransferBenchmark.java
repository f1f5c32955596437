package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.FileTree;
import io.troupe.base.net.HostPort;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.RoundsOption;
import io.troupe.benchmarks.harness.WorkerProcess;
import io.troupe.core.weights.WeightVersion;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import io.troupe.weights.transfer.WeightLocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench weights}: how long new weights take to all workers of all nodes. Nodes and
 * workers are JVMs of their own; each node listens on a loopback address of its own.
 */
@Command(
    name = "weights",
    mixinStandardHelpOptions = true,
    description =
        "Measures how long published weights take until every worker of every node has them"
            + " mapped, against a plain transferTo of the same bytes, and how long the swap stops"
            + " generation.",
    footer = {
      "",
      "Examples:",
      "  troupe bench weights --bytes 2g --nodes 2 --workers 8",
      "  troupe bench weights --deltas",
      "  troupe bench weights --two-hosts"
    })
public final class WeightTransferBenchmark implements Callable<Integer> {
  private static final int BAR_MISSED = 4;
  private static final double HOP_BAR = 1.5;
  private static final double PAUSE_BAR = 50;
  private static final int MOVES = 200;
  private static final double CHANGED = .03;
  private static final double MILLION = 1e6;
  private static final double BILLION = 1e9;

  @Option(
      names = "--bytes",
      description = "Size of the weights, such as 512m or 2g, default ${DEFAULT-VALUE}.")
  private String bytes = "2g";

  @Option(names = "--nodes", description = "Nodes, default ${DEFAULT-VALUE}.")
  private int nodes = 2;

  @Option(names = "--workers", description = "Workers of each node, default ${DEFAULT-VALUE}.")
  private int workers = 8;

  @Mixin private final RoundsOption rounds = new RoundsOption(3);

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Where caches are made, and deleted at the end; default ${DEFAULT-VALUE}. They take the"
              + " size of the weights times the nodes and two more.")
  private Path directory = Path.of("/dev/shm");

  @Option(
      names = "--deltas",
      description =
          "Measures instead what a delta takes of bfloat16 weights that AdamW has moved by a step.")
  private boolean deltas;

  @Option(
      names = "--two-hosts",
      description =
          "Measures instead whole versions and deltas between two hosts at 1 Gbit/s, which are"
              + " network namespaces of this machine.")
  private boolean twoHosts;

  @Option(
      names = "--layers",
      description =
          "Layers of Qwen3-4B that --two-hosts sends, 202 MB each; 4B has 36. Default"
              + " ${DEFAULT-VALUE}.")
  private int layers = 5;

  @Option(
      names = "--threads",
      description =
          "Threads of each host of --two-hosts that code deltas and make chunks of them; 0 means"
              + " what a host spares, as cluster.delta_threads says. Default ${DEFAULT-VALUE}.")
  private int threads;

  @Mixin private final ResultFile resultFile = new ResultFile();

  private final RunSecret secret = RunSecret.random();

  /** A node's process, with its workers'. */
  private record Node(String host, WorkerProcess process, List<WorkerProcess> workers) {
    long ask(String line) throws IOException {
      return process.ask(line).required("value").asLong();
    }
  }

  /** The times of a round, in seconds, and the bytes that travelled to each node. */
  private record Round(double plain, double publish, double all, double delta, long changed) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (twoHosts) {
      return betweenHosts();
    }
    if (deltas) {
      return DeltaMeasurement.run() ? 0 : BAR_MISSED;
    }
    long size = parse(bytes);
    if (size < 0 || nodes < 1 || workers < 1 || rounds.value() < 1) {
      System.err.printf(
          "error: --bytes %s --nodes %d --workers %d --rounds %d: a size is a number with k, m or"
              + " g, the others are 1 or more%n",
          bytes, nodes, workers, rounds.value());
      return 2;
    }
    long room = Files.getFileStore(directory).getUsableSpace();
    long need = size * (2L * nodes + 2);
    if (need > room) {
      System.err.printf(
          "error: %s has %,d bytes free, and the caches take %,d: give fewer --bytes or another"
              + " --directory%n",
          directory, room, need);
      return 2;
    }
    Path home = Files.createTempDirectory(directory, "troupe-bench-weights-");
    List<Node> started = new ArrayList<>();
    try {
      for (int n = 0; n < nodes; n++) {
        started.add(start(home, n));
      }
      List<Round> measured = new ArrayList<>();
      for (int r = -1; r < rounds.value(); r++) {
        Round round = round(home, started, r < 0 ? Math.min(size, 64 << 20) : size, r);
        if (r >= 0) {
          measured.add(round);
          System.err.printf(
              Locale.ROOT,
              "round %d of %d: plain %.2f s, all workers %.2f s%n",
              r + 1,
              rounds.value(),
              round.plain,
              round.all);
        }
      }
      return report(size, measured, pauses(home));
    } finally {
      for (Node node : started) {
        node.workers.forEach(WorkerProcess::close);
        node.process.close();
      }
      FileTree.delete(home);
    }
  }

  private int betweenHosts() throws IOException, InterruptedException {
    Optional<String> obstacle = TwoHostsMeasurement.obstacle();
    long need = 5 * MovedWeightsFile.bytes(layers); // two versions a host, and one that is written
    long room = Files.getFileStore(directory).getUsableSpace();
    if (obstacle.isPresent() || layers < 1 || rounds.value() < 1 || threads < 0 || need > room) {
      System.err.println(
          "error: "
              + obstacle.orElse(
                  "--layers %d --rounds %d --threads %d: the first two are 1 or more, the last 0 or more, and %s has %,d bytes free of %,d"
                      .formatted(layers, rounds.value(), threads, directory, room, need)));
      return 2;
    }
    Path home = Files.createTempDirectory(directory, "troupe-bench-weights-");
    Thread removal = new Thread(() -> remove(home));
    Runtime.getRuntime().addShutdownHook(removal);
    try {
      return resultFile.end(new TwoHostsMeasurement(layers, rounds.value(), threads).run(home));
    } finally {
      Runtime.getRuntime().removeShutdownHook(removal);
      FileTree.delete(home);
    }
  }

  private static void remove(Path home) {
    try {
      FileTree.delete(home);
    } catch (IOException left) {
      System.err.printf("%s is left: %s%n", home, left.getMessage());
    }
  }

  private Node start(Path home, int number) throws IOException {
    String host = "127.0.0." + (number + 2);
    WorkerProcess process =
        WorkerProcess.smallJava(
            "128m",
            TransferNode.class,
            List.of(host, home.resolve("node" + number).toString(), secret.hex()));
    List<WorkerProcess> readers = new ArrayList<>();
    for (int w = 0; w < workers; w++) {
      readers.add(
          WorkerProcess.smallJava(
              "48m",
              TransferReader.class,
              List.of(secret.hex(), Integer.toString(w), Integer.toString(workers))));
    }
    return new Node(host, process, readers);
  }

  private Round round(Path home, List<Node> started, long size, int number) throws IOException {
    Path model = Files.createDirectory(home.resolve("model"));
    SyntheticModelFile.write(model, size, number);
    for (Node node : started) {
      node.ask("open");
    }
    double plain = plain(model.resolve(SyntheticModelFile.FILE), started.getFirst());
    try (NodeWeights coordinator =
        NodeWeights.open(
            TransferNode.cache(home.resolve("coordinator")),
            ConnectionFactory.onLoopback(),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            secret,
            TransferSettings.usual())) {
      long start = System.nanoTime();
      CachedVersion first = coordinator.publish(new WeightVersion(1), "first", model);
      double publish = since(start);
      List<InetSocketAddress> servers = new ArrayList<>();
      for (Node node : started) {
        servers.add(new InetSocketAddress(node.host, (int) node.ask("open")));
      }
      double all = spread(started, servers, coordinator, first, size);
      SyntheticModelFile.change(model, CHANGED);
      CachedVersion second = coordinator.publish(new WeightVersion(2), "second", model);
      long changed = changed(first, second);
      double delta = spread(started, servers, coordinator, second, changed);
      coordinator.delete();
      return new Round(plain, publish, all, delta, changed);
    } finally {
      FileTree.delete(model);
    }
  }

  private static long changed(CachedVersion from, CachedVersion to) {
    Set<String> known =
        Set.copyOf(
            from.manifest().files().stream()
                .flatMap(f -> f.chunks().stream())
                .map(c -> c.sha256())
                .toList());
    return to.manifest().files().stream()
        .flatMap(f -> f.chunks().stream())
        .filter(c -> !known.contains(c.sha256()))
        .mapToLong(c -> c.length())
        .sum();
  }

  /** A file to one node, with nothing but transferTo here and read and write there. */
  private static double plain(Path file, Node node) throws IOException {
    int port = (int) node.ask("listen");
    try (SocketChannel socket = SocketChannel.open(new InetSocketAddress(node.host, port));
        FileChannel source = FileChannel.open(file, StandardOpenOption.READ)) {
      long start = System.nanoTime();
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> {
                try (socket) {
                  long at = 0;
                  while (at < source.size()) {
                    at += source.transferTo(at, source.size() - at, socket);
                  }
                } catch (IOException failure) {
                  throw new UncheckedIOException(failure);
                }
              });
      long received = node.ask("received");
      sent.join();
      double seconds = since(start);
      if (received != source.size()) {
        throw new IOException("%d of %d bytes arrived".formatted(received, source.size()));
      }
      return seconds;
    }
  }

  /**
   * Measures the seconds until the last worker has a version mapped; afterwards every byte is
   * hashed again.
   */
  private double spread(
      List<Node> started,
      List<InetSocketAddress> servers,
      NodeWeights coordinator,
      CachedVersion version,
      long travels)
      throws IOException {
    String place =
        new WeightLocator(version.ref(), coordinator.address(), servers, Set.of()).format();
    try (ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<JsonNode>> answers = new ArrayList<>();
      long start = System.nanoTime();
      for (int n = 0; n < started.size(); n++) {
        String order =
            "fetch %s %d %s"
                .formatted(
                    HostPort.of(servers.get(n)).toString(),
                    version.ref().version().number(),
                    place);
        for (WorkerProcess worker : started.get(n).workers) {
          answers.add(CompletableFuture.supplyAsync(() -> ask(worker, order), asking));
        }
      }
      for (CompletableFuture<JsonNode> answer : answers) {
        JsonNode came = answer.join();
        if (!came.required("digest").asText().equals(version.manifest().weights())) {
          throw new IOException("a worker has other weights than " + version.ref());
        }
        long fetched = came.required("fetched").asLong();
        if (fetched > travels + (travels >> 4) + (1 << 20)) {
          throw new IOException("%d bytes travelled instead of %d".formatted(fetched, travels));
        }
      }
      double seconds = since(start);
      List<CompletableFuture<JsonNode>> proofs = new ArrayList<>();
      for (Node node : started) {
        for (WorkerProcess worker : node.workers) {
          proofs.add(CompletableFuture.supplyAsync(() -> ask(worker, "verify"), asking));
        }
      }
      proofs.forEach(CompletableFuture::join);
      return seconds;
    }
  }

  private static JsonNode ask(WorkerProcess process, String line) {
    try {
      return process.ask(line);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static JsonNode pauses(Path home) throws IOException {
    try (WorkerProcess sampler =
        WorkerProcess.java(
            WeightSwapWorker.class, List.of(home.resolve("swap").toString(), "" + MOVES))) {
      return sampler.ask("");
    }
  }

  private int report(long size, List<Round> measured, JsonNode gaps) throws IOException {
    double plain = median(measured.stream().mapToDouble(Round::plain).toArray());
    double all = median(measured.stream().mapToDouble(Round::all).toArray());
    double[] ratios =
        measured.stream().mapToDouble(round -> round.all / nodes / round.plain).toArray();
    double ratio = median(ratios);
    double publish = median(measured.stream().mapToDouble(Round::publish).toArray());
    double delta = median(measured.stream().mapToDouble(Round::delta).toArray());
    double[] moving = numbers(gaps.required("moving_ms"));
    double[] still = numbers(gaps.required("still_ms"));
    double pause = quantile(moving, .99);
    boolean ok = ratio <= HOP_BAR && pause <= PAUSE_BAR;
    System.out.printf(
        Locale.ROOT,
        """
        weights of %,d bytes to %d nodes, %d workers each; median of %d rounds.value()
        publish (hash and link)                     %8.2f s    %6.2f GB/s
        plain transferTo, one hop                   %8.2f s    %6.2f GB/s
        until all %3d workers have them mapped      %8.2f s    %6.2f GB/s to each node
        time of a hop over the plain one            %8.2f      bar ≤ %.2f  %s
        the next version, %4.1f %% of it changed      %8.2f s
        generation: longest gap between tokens, ms, %d swaps: p50 %.1f, p99 %.1f, max %.1f; bar p99 ≤ %.0f  %s
        generation: the same without a swap, ms:              p50 %.1f, p99 %.1f, max %.1f
        """,
        size,
        nodes,
        workers,
        measured.size(),
        publish,
        size / publish / BILLION,
        plain,
        size / plain / BILLION,
        nodes * workers,
        all,
        size / all / BILLION,
        ratio,
        HOP_BAR,
        ratio <= HOP_BAR ? "ok" : "MISSED",
        100.0 * measured.getLast().changed / size,
        delta,
        moving.length,
        quantile(moving, .5),
        pause,
        quantile(moving, 1),
        PAUSE_BAR,
        pause <= PAUSE_BAR ? "ok" : "MISSED",
        quantile(still, .5),
        quantile(still, .99),
        quantile(still, 1));
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("bytes", size);
    result.put("nodes", nodes);
    result.put("workers", workers);
    result.put("publish_s", publish);
    result.put("plain_s", plain);
    result.put("all_workers_s", all);
    result.put("hop_ratio", ratio);
    result.put("hop_ratios", ratios);
    result.put("delta_s", delta);
    result.put("delta_bytes", measured.getLast().changed);
    result.put("swap_gap_ms", moving);
    result.put("still_gap_ms", still);
    resultFile.write(result);
    return ok ? 0 : 4;
  }

  private static double[] numbers(JsonNode list) {
    double[] numbers = new double[list.size()];
    Arrays.setAll(numbers, i -> list.get(i).asDouble());
    return numbers;
  }

  private static double quantile(double[] values, double q) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.max(0, (int) Math.ceil(q * sorted.length) - 1)];
  }

  private static double median(double[] values) {
    return quantile(values, .5);
  }

  private static double since(long start) {
    return (System.nanoTime() - start) / (1000 * MILLION);
  }

  /** Bytes of "512m"; -1 if it is no size. */
  private static long parse(String text) {
    int shift =
        switch (text.isEmpty() ? ' ' : text.charAt(text.length() - 1)) {
          case 'k' -> 10;
          case 'm' -> 20;
          case 'g' -> 30;
          default -> 0;
        };
    String digits = shift == 0 ? text : text.substring(0, text.length() - 1);
    return digits.matches("[1-9][0-9]{0,6}") ? Long.parseLong(digits) << shift : -1;
  }
}
