package io.troupe.benchmarks.weights;

import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.RoundsOption;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.tls.HostKeys;
import io.troupe.net.tls.UserKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench tls}: what it costs that processes of a cluster prove who they are. */
@Command(
    name = "tls",
    mixinStandardHelpOptions = true,
    description =
        "Measures keys, handshakes and throughput of mutual TLS on loopback, beside plain TCP.",
    footer = {"", "Example:", "  troupe bench tls --json result.json"})
public final class TlsBenchmark implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MESSAGE = 64 << 10;
  private static final double MILLIS = 1e6;
  private static final double MIB = 1 << 20;

  @Mixin private final RoundsOption rounds = new RoundsOption(5);

  @Option(names = "--mib", description = "MiB a round sends, default ${DEFAULT-VALUE}.")
  private int mib = 256;

  @Option(names = "--connections", description = "Connections of a round.")
  private int connections = 50;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Override
  public Integer call() throws IOException {
    Path state = Files.createTempDirectory("troupe-bench");
    List<Measurement> results = new ArrayList<>();
    try {
      long start = System.nanoTime();
      UserKeys.in(state);
      results.add(plain("keys of a user, made once", millisSince(start), "ms"));
      start = System.nanoTime();
      HostKeys keys = UserKeys.in(state);
      results.add(plain("the same keys, found by a later start", millisSince(start), "ms"));
      ConnectionFactory tls = ConnectionFactory.of(Optional.of(keys.context()), false);
      ConnectionFactory tcp = ConnectionFactory.onLoopback();
      double[] handshake = new double[rounds.value()];
      double[] connect = new double[rounds.value()];
      double[] encrypted = new double[rounds.value()];
      double[] bare = new double[rounds.value()];
      for (int round = -1; round < rounds.value(); round++) {
        int at = Math.max(0, round); // the first one warms up, and is written over
        connect[at] = connecting(tcp);
        handshake[at] = connecting(tls);
        bare[at] = sending(tcp);
        encrypted[at] = sending(tls);
      }
      results.add(
          plain("a connection and 1 byte each way, TCP", BenchmarkReport.median(connect), "ms"));
      results.add(plain("  mutual TLS", BenchmarkReport.median(handshake), "ms"));
      double plain = BenchmarkReport.median(bare);
      results.add(plain("one stream, TCP", plain, "MiB/s"));
      results.add(
          new Measurement(
              "  mutual TLS", BenchmarkReport.median(encrypted), "MiB/s", plain, Double.NaN, true));
    } finally {
      FileTree.delete(state);
    }
    BenchmarkReport.print("%-42s %,12.2f %-8s %s%n", results);
    return resultFile.end(results);
  }

  private static Measurement plain(String name, double value, String unit) {
    return new Measurement(name, value, unit, Double.NaN, Double.NaN, false);
  }

  private static double millisSince(long start) {
    return (System.nanoTime() - start) / MILLIS;
  }

  /** Milliseconds of a connection, one after the other, each with a byte there and back. */
  private double connecting(ConnectionFactory endpoint) throws IOException {
    try (ConnectionFactory.Listener listener = endpoint.listen(loopback(0))) {
      CompletableFuture<Void> echo =
          CompletableFuture.runAsync(() -> answer(listener, connections, 1, 1));
      long start = System.nanoTime();
      for (int i = 0; i < connections; i++) {
        exchange(endpoint, listener, 1, 1);
      }
      double millis = millisSince(start) / connections;
      echo.join();
      return millis;
    }
  }

  /** MiB a second of one connection in one direction. */
  private double sending(ConnectionFactory endpoint) throws IOException {
    long bytes = (long) mib << 20;
    try (ConnectionFactory.Listener listener = endpoint.listen(loopback(0))) {
      CompletableFuture<Void> sink =
          CompletableFuture.runAsync(() -> answer(listener, 1, bytes, 1));
      long start = System.nanoTime();
      exchange(endpoint, listener, bytes, 1);
      double seconds = millisSince(start) / 1000;
      sink.join();
      return bytes / MIB / seconds;
    }
  }

  private static void exchange(
      ConnectionFactory endpoint, ConnectionFactory.Listener to, long out, long back)
      throws IOException {
    try (Connection wire = endpoint.connect(to.address(), PATIENCE)) {
      write(wire, out);
      read(wire, back);
    }
  }

  private static void answer(
      ConnectionFactory.Listener listener, int connections, long in, long back) {
    try {
      for (int i = 0; i < connections; i++) {
        try (Connection wire = listener.accept()) {
          read(wire, in);
          write(wire, back);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Connection wire, long bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);
    for (long left = bytes; left > 0; left -= buffer.capacity()) {
      buffer.clear().limit((int) Math.min(left, MESSAGE));
      while (buffer.hasRemaining()) {
        wire.write(buffer);
      }
    }
  }

  private static void read(Connection wire, long bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(MESSAGE);
    for (long left = bytes; left > 0; ) {
      buffer.clear().limit((int) Math.min(left, MESSAGE));
      int got = wire.read(buffer);
      if (got < 0) {
        throw new IOException("the peer has closed the connection");
      }
      left -= got;
    }
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
