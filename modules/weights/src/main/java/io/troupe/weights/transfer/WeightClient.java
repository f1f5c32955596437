package io.troupe.weights.transfer;

import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionDeadline;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.NodeWeights.FetchReply;
import io.troupe.weights.transfer.NodeWeights.FetchRequest;
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
public final class WeightClient implements WeightProvider {
  private final ConnectionFactory endpoint;
  private final InetSocketAddress node;
  private final RunSecret secret;
  private final Duration connect;
  private final Duration answer;

  /**
   * A node abandons a transfer after {@link TransferSettings#total} and then answers with the
   * reason.
   */
  private static final Duration ANSWER = TransferSettings.usual().total().plusMinutes(1);

  /**
   * A client of a node's {@link NodeWeights#address}.
   *
   * @param node an address of this very host
   * @param connect time limit of a connection and of the proof of the secret
   */
  public WeightClient(
      ConnectionFactory endpoint, InetSocketAddress node, RunSecret secret, Duration connect) {
    this(endpoint, node, secret, connect, ANSWER);
  }

  /**
   * Creates a client that asks one node.
   *
   * @param answer time in which the node must bring weights, even if it has been stopped
   */
  WeightClient(
      ConnectionFactory endpoint,
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
  public CompletionStage<FetchOutcome> fetch(WeightRef ref, List<InetSocketAddress> sources) {
    CompletableFuture<FetchOutcome> outcome = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("weights-" + ref.version())
        .start(() -> outcome.complete(requestFetch(ref, sources)));
    return outcome;
  }

  private FetchOutcome requestFetch(WeightRef ref, List<InetSocketAddress> sources) {
    long start = System.nanoTime();
    try (Connection wire = endpoint.connect(node, connect)) {
      within(
          connect,
          wire,
          () -> {
            secret.proveAsClient(wire, TransferProtocol.PURPOSE);
            return true;
          });
      byte[] order =
          NodeWeights.JSON.writeValueAsBytes(
              new FetchRequest(
                  ref.version().number(),
                  ref.digest(),
                  ref.bytes(),
                  sources.stream().map(one -> HostPort.of(one).toString()).toList()));
      ByteBuffer question =
          ByteBuffer.allocate(TransferProtocol.QUESTION + order.length)
              .put(TransferProtocol.FETCH)
              .put(new byte[TransferProtocol.DIGEST])
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

  private static <T> T within(Duration limit, Connection wire, Call<T> call) throws IOException {
    ConnectionDeadline clock = ConnectionDeadline.of(limit, wire);
    try {
      return call.call();
    } catch (IOException failure) {
      if (!clock.cancel()) {
        throw new IOException("it has not answered within %s".formatted(limit), failure);
      }
      throw failure;
    } finally {
      clock.cancel();
    }
  }

  private static FetchOutcome read(Connection wire, WeightRef ref, long start) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(TransferProtocol.ANSWER);
    wire.readFully(head);
    byte status = head.flip().get();
    int length = head.getInt();
    if (length < 0 || length > TransferProtocol.MOST_MANIFEST) {
      throw new IOException("an answer of %d bytes".formatted(length));
    }
    ByteBuffer content = ByteBuffer.allocate(length);
    wire.readFully(content);
    if (status != TransferProtocol.OK) {
      return failed(new String(content.array(), StandardCharsets.UTF_8), start);
    }
    FetchReply delivery = NodeWeights.JSON.readValue(content.array(), FetchReply.class);
    if (!delivery.supersededBy().isEmpty()) {
      return new FetchOutcome.Superseded(
          new WeightRef(
              new WeightVersion(delivery.version()), delivery.supersededBy(), delivery.bytes()));
    }
    if (delivery.directory().isEmpty()) {
      return failed(delivery.reason(), start);
    }
    return new FetchOutcome.Ready(
        CachedVersion.open(ref, Path.of(delivery.directory())),
        new FetchOutcome.TransferStats(
            delivery.fetched(), delivery.reused(), 0, since(start), List.of()));
  }

  private static FetchOutcome failed(String reason, long start) {
    return new FetchOutcome.Failed(
        reason, new FetchOutcome.TransferStats(0, 0, 0, since(start), List.of()));
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
