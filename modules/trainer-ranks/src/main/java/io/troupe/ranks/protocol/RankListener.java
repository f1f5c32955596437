package io.troupe.ranks.protocol;

import io.troupe.base.net.HostPort;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionDeadline;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.link.PendingHandshakes;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
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

  /** After a call that could not be taken: the process may have no file descriptor left. */
  private static final Duration RECOVERY = Duration.ofMillis(200);

  private final String host;
  private final ConnectionFactory.Listener listener;
  private final PeerHandshake introduction;
  private final ReportHandler handler;
  private final Duration silence;
  private final PendingHandshakes halfOpen = new PendingHandshakes(MAX_HANDSHAKES);
  private volatile boolean closed;

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
    RankListener rankListener = new RankListener(at.host(), listener, secret, silence, handler);
    Thread.ofPlatform().name("rank-listener").daemon().start(rankListener::receive);
    return rankListener;
  }

  public HostPort address() {
    return new HostPort(host, listener.address().getPort());
  }

  private void receive() {
    while (!closed) {
      try {
        Connection caller = listener.accept();
        halfOpen.add(caller);
        Thread.ofVirtual().start(() -> authenticate(caller));
      } catch (IOException failure) {
        if (!closed) {
          LOG.warn("event=rank_accept_failed reason=\"{}\"", failure.toString());
          LockSupport.parkNanos(RECOVERY.toNanos());
        }
      }
    }
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
      dismiss(caller);
    } finally {
      halfOpen.remove(caller);
    }
  }

  private static void dismiss(Connection caller) {
    try {
      caller.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      listener.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }
}
