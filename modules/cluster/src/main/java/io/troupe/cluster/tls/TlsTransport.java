package io.troupe.cluster.tls;

import static java.util.Objects.requireNonNull;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.net.tls.HostKeys;
import io.troupe.net.tls.KeyStorePasswords;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The settings of Akka's transport that make the connections of actor systems use a host's keys.
 */
public final class TlsTransport {
  private static final String ENGINE = "akka.remote.artery.ssl.config-ssl-engine.";
  private static final String KEY_STORE = ENGINE + "key-store";
  private static final String HOSTNAME_VERIFICATION = ENGINE + "hostname-verification";
  private static final long DAY = Duration.ofDays(1).toSeconds();

  private TlsTransport() {}

  /**
   * Settings for TLS 1.3 only: both sides present certificates, and each side compares the peer's
   * certificate with the peer's address.
   *
   * @throws IOException if the password of the keys cannot be read
   */
  public static Config of(HostKeys keys) throws IOException {
    String password =
        String.valueOf(KeyStorePasswords.read(keys.folder().resolve(HostKeys.PASSWORD)));
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("akka.remote.artery.transport", "tls-tcp");
    settings.put(
        "akka.remote.artery.ssl.ssl-engine-provider", LoggingSslEngineProvider.class.getName());
    settings.put(KEY_STORE, keys.folder().resolve(HostKeys.KEYS).toAbsolutePath().toString());
    settings.put(
        ENGINE + "trust-store", keys.folder().resolve(HostKeys.TRUST).toAbsolutePath().toString());
    settings.put(ENGINE + "key-store-password", password);
    settings.put(ENGINE + "key-password", password);
    settings.put(ENGINE + "trust-store-password", password);
    settings.put(ENGINE + "protocol", "TLSv1.3");
    settings.put(
        ENGINE + "enabled-algorithms", List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"));
    settings.put(ENGINE + "require-mutual-authentication", true);
    settings.put(HOSTNAME_VERIFICATION, true);
    return ConfigFactory.parseMap(settings);
  }

  /**
   * Settings for the keys that {@link io.troupe.net.tls.UserKeys} holds. No address is compared:
   * all addresses of the loopback interface are this host, and the certificate is this user's on
   * each of them.
   *
   * @throws IOException as {@link #of}
   */
  public static Config ofUser(HostKeys own) throws IOException {
    return ConfigFactory.parseMap(Map.of(HOSTNAME_VERIFICATION, false)).withFallback(of(own));
  }

  /**
   * Whole days until the certificate of a transport ends, negative once it has; empty if it cannot
   * be read.
   *
   * @param transport as {@link #of} made it
   */
  public static OptionalLong daysLeft(Config transport, Instant now) {
    Path store = Path.of(transport.getString(KEY_STORE));
    try {
      HostKeys keys = HostKeys.in(requireNonNull(store.getParent()));
      return OptionalLong.of(Math.floorDiv(Duration.between(now, keys.until()).toSeconds(), DAY));
    } catch (IOException unread) {
      return OptionalLong.empty();
    }
  }
}
