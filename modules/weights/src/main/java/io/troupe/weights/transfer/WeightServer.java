package io.troupe.weights.transfer;

import io.troupe.net.link.AcceptLoop;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PendingHandshakes;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.transfer.StallWatchdog.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a node's weights to peers that know the run's secret, including weights that are still
 * being received. Each connection has a thread, and their number is bounded; one that takes nothing
 * is closed, so that a dead receiver holds nothing up but its own thread, and that not for long.
 */
final class WeightServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightServer.class);

  /** Connections without a proof of the secret; more close the oldest. */
  private static final int HALF_OPEN = 256;

  private final WeightCache cache;
  private final RunSecret secret;
  private final TransferSettings settings;
  private final StallWatchdog guard;
  private final DeltaThreads threads;
  private final Fetcher fetcher;
  private final ConnectionFactory.Listener listener;
  private final PendingHandshakes halfOpen = new PendingHandshakes(HALF_OPEN);
  private final Semaphore room;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private final AcceptLoop connections;

  /** Answers a process of this host that wants weights in the cache. */
  interface Fetcher {
    /** The request's bytes to the answer's; an exception's message goes to the process. */
    byte[] fetch(byte[] request) throws IOException, InterruptedException;
  }

  WeightServer(
      ConnectionFactory endpoint,
      InetSocketAddress address,
      WeightCache cache,
      RunSecret secret,
      TransferSettings settings,
      StallWatchdog guard,
      DeltaThreads threads,
      Fetcher bringer)
      throws IOException {
    this.cache = cache;
    this.secret = secret;
    this.settings = settings;
    this.guard = guard;
    this.threads = threads;
    this.fetcher = bringer;
    this.room = new Semaphore(settings.connections());
    this.listener = endpoint.listen(address);
    this.connections =
        AcceptLoop.start(
            "weights-server",
            listener,
            this::accepted,
            failure -> LOG.warn("event=weights_accept_failed reason={}", failure.toString()));
  }

  InetSocketAddress address() {
    return listener.address();
  }

  private void accepted(Connection wire) {
    Thread.ofPlatform().daemon().name("weights-connection").start(() -> serve(wire));
  }

  private void serve(Connection wire) {
    halfOpen.add(wire);
    open.add(wire);
    try (wire) {
      try (Watch _ = guard.watch(wire, settings.connect(), Long.MAX_VALUE)) {
        secret.proveAsServer(wire, TransferProtocol.PURPOSE);
      } finally {
        halfOpen.remove(wire);
      }
      if (!room.tryAcquire()) {
        LOG.warn("event=weights_connection_refused limit={}", settings.connections());
        return;
      }
      try (WeightSession session =
          new WeightSession(wire, cache, settings, guard, threads, fetcher)) {
        session.serve();
      } finally {
        room.release();
      }
    } catch (IOException | InterruptedException end) {
      LOG.debug("event=weights_connection_ended reason={}", end.toString());
    } finally {
      open.remove(wire);
    }
  }

  @Override
  public void close() throws IOException {
    connections.close();
    for (Connection wire : open) {
      wire.close();
    }
  }
}
