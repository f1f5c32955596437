package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Where ranks' processes report to the head, on the loopback interface. */
final class RankReception implements AutoCloseable {
  private static final int SECRET = 32;
  private static final int HELLO_MILLIS = 5_000;

  private final ServerSocketChannel listener;
  private final byte[] secret = new byte[SECRET];
  private final Map<Integer, CompletableFuture<RankLine>> awaited = new ConcurrentHashMap<>();

  private RankReception(ServerSocketChannel listener) {
    this.listener = listener;
    new SecureRandom().nextBytes(secret);
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
    return HexFormat.of().formatHex(secret);
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
      CompletableFuture<Boolean> known = new CompletableFuture<>();
      var _ =
          known
              .completeOnTimeout(false, HELLO_MILLIS, TimeUnit.MILLISECONDS)
              .thenAccept(yes -> closeUnless(yes, caller));
      RankLine line = new RankLine(caller);
      ByteBuffer hello = ByteBuffer.allocate(SECRET + Integer.BYTES);
      line.read(hello);
      byte[] proof = new byte[SECRET];
      hello.flip().get(proof);
      Optional<CompletableFuture<RankLine>> awaiting =
          MessageDigest.isEqual(proof, secret)
              ? Optional.ofNullable(awaited.remove(hello.getInt()))
              : Optional.empty();
      known.complete(awaiting.isPresent());
      if (awaiting.isPresent()) {
        caller.socket().setTcpNoDelay(true);
        awaiting.get().complete(line);
      }
    } catch (IOException gone) {
      closeUnless(false, caller);
    }
  }

  private static void closeUnless(boolean known, SocketChannel caller) {
    if (!known) {
      try {
        caller.close();
      } catch (IOException gone) {
        // It is closed.
      }
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
