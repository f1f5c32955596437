package io.troupe.cluster.ranks;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.HalfOpen;
import io.troupe.cluster.link.Introduction;
import io.troupe.cluster.link.TimeLimit;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where ranks' processes report to the head. Strangers are sent away. */
final class RankReception implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankReception.class);

  /** What a connection is for, in the proof of the secret. */
  static final String PURPOSE = "trainer rank to head";

  static final Duration HELLO = Duration.ofSeconds(20);

  /** Callers who have not said yet who they are; more close the oldest. */
  private static final int GREETED_AT_ONCE = 256;

  /** After a call that could not be taken: the process may have no file descriptor left. */
  private static final Duration RECOVERY = Duration.ofMillis(200);

  private final String host;
  private final Endpoint.Listener listener;
  private final Introduction introduction;
  private final Guests guests;
  private final Duration silence;
  private final HalfOpen halfOpen = new HalfOpen(GREETED_AT_ONCE);
  private volatile boolean closed;

  /** Who is awaited. */
  @FunctionalInterface
  interface Guests {
    /** Takes the call, or says what becomes of who made it. */
    Welcome came(RankTalk.Report report, RankCall call);
  }

  /** What becomes of a caller. */
  sealed interface Welcome {
    /** It stays. */
    record Stay() implements Welcome {}

    /** It may ask again. */
    record NotNow(String reason) implements Welcome {}

    /** Its process must end. */
    record Never(String reason) implements Welcome {}
  }

  private RankReception(
      String host, Endpoint.Listener listener, RunSecret secret, Duration silence, Guests guests) {
    this.host = host;
    this.listener = listener;
    this.introduction = new Introduction(secret, PURPOSE);
    this.silence = silence;
    this.guests = guests;
  }

  /**
   * Opens it.
   *
   * @param at port 0 takes a free one
   * @param silence how long a rank that obeys may give no sign of life
   * @throws IOException if nothing can listen there, or may
   */
  static RankReception open(
      Endpoint endpoint, HostPort at, RunSecret secret, Duration silence, Guests guests)
      throws IOException {
    Endpoint.Listener listener = endpoint.listen(new InetSocketAddress(at.host(), at.port()));
    RankReception reception = new RankReception(at.host(), listener, secret, silence, guests);
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
        halfOpen.begin(caller);
        Thread.ofVirtual().start(() -> greet(caller));
      } catch (IOException failure) {
        if (!closed) {
          LOG.warn("event=rank_accept_failed reason=\"{}\"", failure.toString());
          LockSupport.parkNanos(RECOVERY.toNanos());
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
      halfOpen.over(caller);
      RankCall call = new RankCall(new RankLine(new Wire.Timed(caller, silence)));
      switch (guests.came(report, call)) {
        case Welcome.Stay _ -> {}
        case Welcome.NotNow(String reason) -> throw new IOException(reason);
        case Welcome.Never(String reason) -> {
          line.say(new RankTalk.Dismissed(reason));
          throw new IOException(reason);
        }
      }
    } catch (IOException stranger) {
      LOG.warn("event=rank_stranger_refused reason=\"{}\"", stranger.getMessage());
      dismiss(caller);
    } finally {
      halfOpen.over(caller);
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
