package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import io.troupe.cluster.secret.Introduction;
import io.troupe.cluster.secret.RunSecret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where ranks' processes report to the head, on the loopback interface. */
final class RankReception implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankReception.class);

  /** What a connection is for, in the proof of the secret. */
  static final String PURPOSE = "trainer rank to head";

  static final Duration HELLO = Duration.ofSeconds(5);

  private final ServerSocketChannel listener;
  private final RunSecret secret = RunSecret.random();
  private final Map<Integer, CompletableFuture<RankLine>> awaited = new ConcurrentHashMap<>();

  private RankReception(ServerSocketChannel listener) {
    this.listener = listener;
  }

  static RankReception open() throws IOException {
    RankReception reception =
        new RankReception(
            ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
    Thread.ofPlatform().name("rank-reception").daemon().start(reception::receive);
    return reception;
  }

  HostPort address() throws IOException {
    InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
    return new HostPort(bound.getAddress().getHostAddress(), bound.getPort());
  }

  /** What a rank proves itself with. */
  String secret() {
    return secret.hex();
  }

  /** The connection of a rank that is about to report. */
  CompletableFuture<RankLine> await(int rank) {
    CompletableFuture<RankLine> line = new CompletableFuture<>();
    awaited.put(rank, line);
    return line;
  }

  private void receive() {
    while (listener.isOpen()) {
      try {
        SocketChannel caller = listener.accept();
        Thread.ofVirtual().start(() -> greet(caller));
      } catch (IOException closed) {
        return;
      }
    }
  }

  /** A stranger is shown the door; it may be a rank of a head that is gone. */
  private void greet(SocketChannel caller) {
    try {
      new Introduction(secret, PURPOSE).welcome(caller, HELLO);
      RankLine line = new RankLine(caller);
      ByteBuffer number = ByteBuffer.allocate(Integer.BYTES);
      line.read(number);
      Optional<CompletableFuture<RankLine>> awaiting =
          Optional.ofNullable(awaited.remove(number.flip().getInt()));
      if (awaiting.isEmpty()) {
        throw new IOException("no such rank is awaited");
      }
      caller.socket().setTcpNoDelay(true);
      awaiting.get().complete(line);
    } catch (IOException stranger) {
      LOG.warn("event=rank_stranger_refused reason=\"{}\"", stranger.getMessage());
      dismiss(caller);
    }
  }

  private static void dismiss(SocketChannel caller) {
    try {
      caller.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }
}
