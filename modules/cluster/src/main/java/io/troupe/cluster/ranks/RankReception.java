package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.Introduction;
import io.troupe.cluster.link.TimeLimit;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where ranks' processes report to the head. Strangers are sent away. */
final class RankReception implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankReception.class);

  /** What a connection is for, in the proof of the secret. */
  static final String PURPOSE = "trainer rank to head";

  static final Duration HELLO = Duration.ofSeconds(5);

  private final String host;
  private final Endpoint.Listener listener;
  private final Introduction introduction;
  private final Guests guests;
  private volatile boolean closed;

  /** Who is awaited. */
  @FunctionalInterface
  interface Guests {
    /** Whether it may stay, and who takes the call if so. */
    boolean came(RankTalk.Report report, RankCall call);
  }

  private RankReception(String host, Endpoint.Listener listener, RunSecret secret, Guests guests) {
    this.host = host;
    this.listener = listener;
    this.introduction = new Introduction(secret, PURPOSE);
    this.guests = guests;
  }

  /**
   * Opens it.
   *
   * @param at port 0 takes a free one
   * @throws IOException if nothing can listen there, or may
   */
  static RankReception open(Endpoint endpoint, HostPort at, RunSecret secret, Guests guests)
      throws IOException {
    Endpoint.Listener listener = endpoint.listen(new InetSocketAddress(at.host(), at.port()));
    RankReception reception = new RankReception(at.host(), listener, secret, guests);
    Thread.ofPlatform().name("rank-reception").daemon().start(reception::receive);
    return reception;
  }

  HostPort address() {
    return new HostPort(host, listener.address().getPort());
  }

  private void receive() {
    while (!closed) {
      try {
        Wire caller = listener.accept();
        Thread.ofVirtual().start(() -> greet(caller));
      } catch (IOException failure) {
        if (!closed) {
          LOG.warn("event=rank_accept_failed reason=\"{}\"", failure.toString());
        }
      }
    }
  }

  /** A stranger is shown the door; it may be a rank of a head that is gone. */
  private void greet(Wire caller) {
    try {
      introduction.welcome(caller, HELLO);
      RankLine line = new RankLine(caller);
      TimeLimit limit = TimeLimit.of(HELLO, caller);
      if (!(line.hear() instanceof RankTalk.Report report) || !limit.kept()) {
        throw new IOException("it did not say who it is");
      }
      if (!guests.came(report, new RankCall(line))) {
        throw new IOException("no such rank is awaited: " + report);
      }
    } catch (IOException stranger) {
      LOG.warn("event=rank_stranger_refused reason=\"{}\"", stranger.getMessage());
      dismiss(caller);
    }
  }

  private static void dismiss(Wire caller) {
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
