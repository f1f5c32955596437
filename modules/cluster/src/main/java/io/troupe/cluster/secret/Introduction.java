package io.troupe.cluster.secret;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Proof of a run's secret over a TCP connection, within a deadline, at which the connection is
 * closed.
 *
 * @param purpose what the connection is for, in the same words on both sides
 */
public record Introduction(RunSecret secret, String purpose) {
  private interface Proof {
    void over(RunSecret.Line line) throws IOException;
  }

  /** A channel that blocks. */
  private record Plain(SocketChannel channel) implements RunSecret.Line {
    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    @Override
    public void readFully(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        if (channel.read(bytes) < 0) {
          throw new EOFException("the other side closed the connection");
        }
      }
    }
  }

  /**
   * The side that connected.
   *
   * @throws IOException if the other side proves nothing; the caller closes the channel
   */
  public void greet(SocketChannel channel, Duration within) throws IOException {
    prove(line -> secret.greet(line, purpose), channel, within);
  }

  /**
   * The side that listens.
   *
   * @throws IOException if the other side proves nothing; the caller closes the channel
   */
  public void welcome(SocketChannel channel, Duration within) throws IOException {
    prove(line -> secret.welcome(line, purpose), channel, within);
  }

  private static void prove(Proof proof, SocketChannel channel, Duration within)
      throws IOException {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    var _ =
        ended
            .completeOnTimeout(false, Math.max(1, within.toMillis()), TimeUnit.MILLISECONDS)
            .thenAccept(inTime -> closeUnless(inTime, channel));
    try {
      proof.over(new Plain(channel));
    } catch (IOException failure) {
      throw ended.complete(true) ? failure : late(within, failure);
    }
    if (!ended.complete(true)) {
      throw new IOException("the other side proved nothing within " + within);
    }
  }

  private static IOException late(Duration within, IOException closed) {
    return new IOException("the other side proved nothing within " + within, closed);
  }

  private static void closeUnless(boolean inTime, SocketChannel channel) {
    if (!inTime) {
      try {
        channel.close();
      } catch (IOException gone) {
        // It is closed.
      }
    }
  }
}
