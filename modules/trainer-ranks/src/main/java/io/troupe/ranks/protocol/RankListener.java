package io.troupe.ranks.protocol;

import io.troupe.base.failure.Closing;
import io.troupe.base.net.HostPort;
import io.troupe.net.link.AcceptLoop;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionDeadline;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.link.PendingHandshakes;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where ranks' processes report to the coordinator. Strangers are sent away. */
public final class RankListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankListener.class);

  /** What a connection is for, in the proof of the secret. */
  public static final String PURPOSE = "trainer rank to coordinator";

  public static final Duration HELLO = Duration.ofSeconds(20);

  /** Callers who have not said yet who they are; more close the oldest. */
  private static final int MAX_HANDSHAKES = 256;

  private final String host;
  private final ConnectionFactory.Listener listener;
  private final PeerHandshake introduction;
  private final ReportHandler handler;
  private final Duration silence;
  private final PendingHandshakes halfOpen = new PendingHandshakes(MAX_HANDSHAKES);
  private final AcceptLoop connections;

  /** Decides whether a rank that reports is accepted. */
  @FunctionalInterface
  public interface ReportHandler {
    /** Takes the connection of a rank, or decides what the rank is to do. */
    Acceptance onReport(RankProtocol.Report report, RankClient call);
  }

  /** What a rank that reports is to do. */
  public sealed interface Acceptance {
    /** The rank is accepted. */
    record Accepted() implements Acceptance {}

    /** The rank may report again. */
    record RetryLater(String reason) implements Acceptance {}

    /** The process of the rank must end. */
    record Evicted(String reason) implements Acceptance {}
  }

  private RankListener(
      String host,
      ConnectionFactory.Listener listener,
      RunSecret secret,
      Duration silence,
      ReportHandler handler) {
    this.host = host;
    this.listener = listener;
    this.introduction = new PeerHandshake(secret, PURPOSE);
    this.silence = silence;
    this.handler = handler;
    this.connections =
        AcceptLoop.start(
            "rank-listener",
            listener,
            this::accepted,
            failure -> LOG.warn("event=rank_accept_failed reason=\"{}\"", failure.toString()));
  }

  /**
   * Opens it.
   *
   * @param at port 0 takes a free one
   * @param silence how long a rank that obeys may give no sign of life
   * @throws IOException if nothing can listen there, or may
   */
  public static RankListener open(
      ConnectionFactory endpoint,
      HostPort at,
      RunSecret secret,
      Duration silence,
      ReportHandler handler)
      throws IOException {
    ConnectionFactory.Listener listener =
        endpoint.listen(new InetSocketAddress(at.host(), at.port()));
    return new RankListener(at.host(), listener, secret, silence, handler);
  }

  public HostPort address() {
    return new HostPort(host, listener.address().getPort());
  }

  private void accepted(Connection caller) {
    halfOpen.add(caller);
    Thread.ofVirtual().start(() -> authenticate(caller));
  }

  /** A stranger is shown the door; it may be a rank of a coordinator that is gone. */
  private void authenticate(Connection caller) {
    try {
      introduction.asServer(caller, HELLO);
      RankConnection line = new RankConnection(caller);
      ConnectionDeadline limit = ConnectionDeadline.of(HELLO, caller);
      if (!(line.receive() instanceof RankProtocol.Report report) || !limit.cancel()) {
        throw new IOException("it did not say who it is");
      }
      halfOpen.remove(caller);
      RankClient call = new RankClient(new RankConnection(new Connection.Timed(caller, silence)));
      switch (handler.onReport(report, call)) {
        case Acceptance.Accepted _ -> {}
        case Acceptance.RetryLater(String reason) -> throw new IOException(reason);
        case Acceptance.Evicted(String reason) -> {
          line.send(new RankProtocol.Evicted(reason));
          throw new IOException(reason);
        }
      }
    } catch (IOException stranger) {
      LOG.warn("event=rank_refused reason=\"{}\"", stranger.getMessage());
      Closing.quietly(caller);
    } finally {
      halfOpen.remove(caller);
    }
  }

  @Override
  public void close() {
    Closing.quietly(connections);
  }
}
