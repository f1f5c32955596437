package io.troupe.cluster.weights;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.TimeLimit;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.cluster.weights.NodeWeights.Delivery;
import io.troupe.cluster.weights.NodeWeights.Order;
import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Asks the process that owns this host's cache to fetch weights, and maps what it says. However
 * many processes of a host ask, the weights come once.
 */
public final class WeightClient implements WeightSupply {
  private final Endpoint endpoint;
  private final InetSocketAddress node;
  private final RunSecret secret;
  private final Duration connect;
  private final Duration answer;

  /**
   * A node gives a transfer up after {@link TransferSettings#total}; then it has a reason to tell.
   */
  private static final Duration ANSWER = TransferSettings.usual().total().plusMinutes(1);

  /**
   * A client of a node's {@link NodeWeights#address}.
   *
   * @param node an address of this very host
   * @param connect how long a connection may take, and the proof of the secret
   */
  public WeightClient(
      Endpoint endpoint, InetSocketAddress node, RunSecret secret, Duration connect) {
    this(endpoint, node, secret, connect, ANSWER);
  }

  /**
   * The same.
   *
   * @param answer how long the node may take to bring weights, be it that it has been stopped
   */
  WeightClient(
      Endpoint endpoint,
      InetSocketAddress node,
      RunSecret secret,
      Duration connect,
      Duration answer) {
    this.endpoint = endpoint;
    this.node = node;
    this.secret = secret;
    this.connect = connect;
    this.answer = answer;
  }

  @Override
  public CompletionStage<Fetched> fetch(WeightRef ref, List<InetSocketAddress> sources) {
    CompletableFuture<Fetched> outcome = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("weights-" + ref.version())
        .start(() -> outcome.complete(bring(ref, sources)));
    return outcome;
  }

  private Fetched bring(WeightRef ref, List<InetSocketAddress> sources) {
    long start = System.nanoTime();
    try (Wire wire = endpoint.connect(node, connect)) {
      within(
          connect,
          wire,
          () -> {
            secret.greet(wire, Protocol.PURPOSE);
            return true;
          });
      byte[] order =
          NodeWeights.JSON.writeValueAsBytes(
              new Order(
                  ref.version().number(),
                  ref.digest(),
                  ref.bytes(),
                  sources.stream().map(one -> HostPort.of(one).toString()).toList()));
      ByteBuffer question =
          ByteBuffer.allocate(Protocol.QUESTION + order.length)
              .put(Protocol.BRING)
              .put(new byte[Protocol.DIGEST])
              .putInt(order.length)
              .put(order)
              .flip();
      return within(
          answer,
          wire,
          () -> {
            wire.write(question);
            return read(wire, ref, start);
          });
    } catch (IOException failure) {
      return failed(
          "the weight server of this node at %s: %s"
              .formatted(HostPort.of(node).toString(), failure.getMessage()),
          start);
    }
  }

  private interface Call<T> {
    T call() throws IOException;
  }

  private static <T> T within(Duration limit, Wire wire, Call<T> call) throws IOException {
    TimeLimit clock = TimeLimit.of(limit, wire);
    try {
      return call.call();
    } catch (IOException failure) {
      if (!clock.kept()) {
        throw new IOException("it has not answered within %s".formatted(limit), failure);
      }
      throw failure;
    } finally {
      clock.kept();
    }
  }

  private static Fetched read(Wire wire, WeightRef ref, long start) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(Protocol.ANSWER);
    wire.readFully(head);
    byte status = head.flip().get();
    int length = head.getInt();
    if (length < 0 || length > Protocol.MOST_MANIFEST) {
      throw new IOException("an answer of %d bytes".formatted(length));
    }
    ByteBuffer content = ByteBuffer.allocate(length);
    wire.readFully(content);
    if (status != Protocol.OK) {
      return failed(new String(content.array(), StandardCharsets.UTF_8), start);
    }
    Delivery delivery = NodeWeights.JSON.readValue(content.array(), Delivery.class);
    if (!delivery.overtakenBy().isEmpty()) {
      return new Fetched.Overtaken(
          new WeightRef(
              new WeightVersion(delivery.version()), delivery.overtakenBy(), delivery.bytes()));
    }
    if (delivery.directory().isEmpty()) {
      return failed(delivery.reason(), start);
    }
    return new Fetched.Ready(
        CachedVersion.open(ref, Path.of(delivery.directory())),
        new Fetched.Report(delivery.fetched(), delivery.reused(), 0, since(start), List.of()));
  }

  private static Fetched failed(String reason, long start) {
    return new Fetched.Failed(reason, new Fetched.Report(0, 0, 0, since(start), List.of()));
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
