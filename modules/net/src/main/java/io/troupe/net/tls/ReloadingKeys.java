package io.troupe.net.tls;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of a host, read from its folder at each handshake: renewed certificates take effect
 * without a restart. Established connections keep theirs.
 *
 * <p>A folder that cannot be used, such as one whose files are just being replaced one after
 * another, leaves the keys that were there before, and is looked at again at the next handshake.
 */
public final class ReloadingKeys {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadingKeys.class);

  /**
   * The keys of a folder at one time; its number distinguishes its aliases from those of others.
   */
  record Loaded(
      long number, String stamp, X509ExtendedKeyManager keys, X509ExtendedTrustManager trust) {
    private static final String SEPARATOR = "/";

    @Nullable String named(@Nullable String alias) {
      return alias == null ? null : number + SEPARATOR + alias;
    }

    static String bare(String alias) {
      return alias.substring(alias.indexOf(SEPARATOR) + 1);
    }

    boolean owns(String alias) {
      return alias.startsWith(number + SEPARATOR);
    }
  }

  private final Path folder;
  private Loaded current;

  /** A handshake that began with them asks for key and certificates one after the other. */
  private Loaded before;

  private String refused = "";

  /**
   * The keys of a folder.
   *
   * @throws IOException if they cannot be used; says why and what to do
   */
  public ReloadingKeys(Path folder) throws IOException {
    this.folder = folder;
    this.current = load(folder, stamp(folder), 0);
    this.before = current;
  }

  private synchronized Loaded current() {
    String stamp = stamp(folder);
    if (!stamp.equals(current.stamp) && !stamp.equals(refused)) {
      try {
        Loaded next = load(folder, stamp, current.number + 1);
        before = current;
        current = next;
        refused = "";
        LOG.info("event=keys_reloaded folder={}", folder);
      } catch (IOException unfit) {
        refused = stamp;
        LOG.warn(
            "event=keys_not_reloaded folder={} reason=\"{}; those read before stay in use\"",
            folder,
            unfit.getMessage());
      }
    }
    return current;
  }

  private synchronized Loaded owner(String alias) {
    return before.owns(alias) ? before : current;
  }

  /** Changes whenever a file does. */
  private static String stamp(Path folder) {
    StringBuilder stamp = new StringBuilder();
    for (String name : List.of(HostKeys.KEYS, HostKeys.TRUST, HostKeys.PASSWORD)) {
      try {
        var file = Files.readAttributes(folder.resolve(name), BasicFileAttributes.class);
        stamp.append(file.lastModifiedTime()).append(' ').append(file.size());
        stamp.append(' ').append(file.fileKey()).append('\n');
      } catch (IOException absent) {
        stamp.append("absent\n");
      }
    }
    return stamp.toString();
  }

  private static Loaded load(Path folder, String stamp, long number) throws IOException {
    HostKeys _ = HostKeys.in(folder);
    char[] password = KeyStorePasswords.read(folder.resolve(HostKeys.PASSWORD));
    try {
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(HostKeys.load(folder.resolve(HostKeys.KEYS), password), password);
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      KeyStore trusted = HostKeys.load(folder.resolve(HostKeys.TRUST), password);
      trust.init(trusted);
      return new Loaded(
          number,
          stamp,
          only(X509ExtendedKeyManager.class, keys.getKeyManagers()),
          only(X509ExtendedTrustManager.class, trust.getTrustManagers()));
    } catch (GeneralSecurityException e) {
      throw new IOException("the keys in %s: %s".formatted(folder, e.getMessage()), e);
    }
  }

  private static <T> T only(Class<T> type, Object[] made) {
    return Arrays.stream(made).filter(type::isInstance).map(type::cast).findFirst().orElseThrow();
  }

  /** Returns the keys and certificates that this host presents. */
  public X509ExtendedKeyManager keys() {
    return new Keys();
  }

  /** Returns the authorities that this host trusts. */
  public X509ExtendedTrustManager trust() {
    return new Trust();
  }

  private final class Keys extends X509ExtendedKeyManager {
    private @Nullable String choose(Function<X509ExtendedKeyManager, @Nullable String> choice) {
      Loaded loaded = current();
      return loaded.named(choice.apply(loaded.keys));
    }

    private String @Nullable [] all(Function<X509ExtendedKeyManager, String @Nullable []> found) {
      Loaded loaded = current();
      String[] aliases = found.apply(loaded.keys);
      if (aliases == null) {
        return null;
      }
      List<String> named = new ArrayList<>();
      for (String alias : aliases) {
        Optional.ofNullable(loaded.named(alias)).ifPresent(named::add);
      }
      return named.toArray(String[]::new);
    }

    @Override
    public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
      return all(keys -> keys.getClientAliases(type, issuers));
    }

    @Override
    public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
      return all(keys -> keys.getServerAliases(type, issuers));
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return choose(keys -> keys.chooseClientAlias(types, issuers, socket));
    }

    @Override
    public @Nullable String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return choose(keys -> keys.chooseServerAlias(type, issuers, socket));
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return choose(keys -> keys.chooseEngineClientAlias(types, issuers, engine));
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return choose(keys -> keys.chooseEngineServerAlias(type, issuers, engine));
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
      return owner(alias).keys.getCertificateChain(Loaded.bare(alias));
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
      return owner(alias).keys.getPrivateKey(Loaded.bare(alias));
    }
  }

  private final class Trust extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      current().trust.checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      current().trust.checkServerTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      current().trust.checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      current().trust.checkServerTrusted(chain, type, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      current().trust.checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      current().trust.checkServerTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return current().trust.getAcceptedIssuers();
    }
  }
}
