package io.troupe.cluster.tls;

import static java.util.Objects.requireNonNull;

import akka.actor.ActorSystem;
import akka.remote.artery.tcp.ConfigSSLEngineProvider;
import io.troupe.net.tls.ReloadingKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Akka's TLS provider, extended by keys that are reloaded when they change and by a log entry for
 * every refused certificate, on this side or the peer's. {@link TlsTransport} names it in the
 * configuration.
 */
public final class LoggingSslEngineProvider extends ConfigSSLEngineProvider {
  private static final Logger LOG = LoggerFactory.getLogger(LoggingSslEngineProvider.class);

  /** A refused process tries again about every second. */
  private static final Duration REPEAT_INTERVAL = Duration.ofMinutes(1);

  private static final int REMEMBERED = 100;

  private final Map<String, Long> reportedAt =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Akka calls this by reflection. */
  public LoggingSslEngineProvider(ActorSystem system) {
    super(system);
  }

  @Override
  public KeyManager[] keyManagers() {
    return new KeyManager[] {live().keys()};
  }

  @Override
  public TrustManager[] trustManagers() {
    return new TrustManager[] {new LoggingTrustCheck(live().trust(), this::report)};
  }

  private ReloadingKeys live() {
    try {
      return new ReloadingKeys(requireNonNull(Path.of(SSLKeyStore()).getParent()));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Override
  public SSLEngine createServerSSLEngine(String hostname, int port) {
    return new LoggingSslEngine(super.createServerSSLEngine(hostname, port), this::report);
  }

  private void report(String sentence) {
    long now = System.nanoTime();
    boolean again;
    synchronized (reportedAt) {
      Long last = reportedAt.get(sentence);
      again = last != null && now - last < REPEAT_INTERVAL.toNanos();
      if (!again) {
        reportedAt.put(sentence, now);
      }
    }
    if (!again) {
      LOG.warn("{}", sentence);
    }
  }
}
