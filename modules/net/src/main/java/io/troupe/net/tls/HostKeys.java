package io.troupe.net.tls;

import io.troupe.base.files.PrivateFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * The files by which a host takes part in a cluster: its key and certificate, and the authority it
 * trusts. The files lie in one folder, which {@link CertificateAuthority#issue} makes and an
 * operator copies to the host.
 *
 * @param folder holds {@code node.p12}, {@code trust.p12} and the {@code password} of both
 * @param addresses names and IP addresses that the certificate is good for
 * @param until end of its validity
 */
public record HostKeys(Path folder, List<String> addresses, Instant until) {
  public static final String ALIAS = "node";
  public static final String KEYS = "node.p12";
  public static final String TRUST = "trust.p12";
  public static final String PASSWORD = "password";

  /** A certificate that ends sooner than this is spoken of. */
  private static final Duration SOON = Duration.ofDays(30);

  public HostKeys {
    addresses = List.copyOf(addresses);
  }

  /**
   * Reads the folder of a host.
   *
   * @throws IOException if something is missing, can be read by others, or does not fit; says what
   *     to do
   */
  public static HostKeys in(Path folder) throws IOException {
    for (String name : List.of(KEYS, TRUST, PASSWORD)) {
      Path file = folder.resolve(name);
      if (!Files.isReadable(file)) {
        throw new IOException(
            "%s is missing; copy the host's folder that `troupe certs issue` made to %s"
                .formatted(file, folder));
      }
    }
    requirePrivate(folder.resolve(KEYS));
    requirePrivate(folder.resolve(PASSWORD));
    char[] password = KeyStorePasswords.read(folder.resolve(PASSWORD));
    try {
      X509Certificate certificate =
          (X509Certificate) load(folder.resolve(KEYS), password).getCertificate(ALIAS);
      if (certificate == null) {
        throw new IOException("%s holds no key '%s'".formatted(folder.resolve(KEYS), ALIAS));
      }
      return new HostKeys(folder, addresses(certificate), certificate.getNotAfter().toInstant());
    } catch (GeneralSecurityException e) {
      throw new IOException("%s: %s".formatted(folder.resolve(KEYS), e.getMessage()), e);
    }
  }

  private static void requirePrivate(Path file) throws IOException {
    Optional<String> openness = PrivateFiles.openness(file);
    if (openness.isPresent()) {
      throw new IOException(
          "%s; anybody who did may join the cluster: chmod 600 it, and issue the certificate again"
              .formatted(openness.get()));
    }
  }

  /**
   * Returns the fault of these keys for a process that listens at {@code address}, if there is one.
   *
   * @param now the present time
   */
  public Optional<String> objection(String address, Instant now) {
    Optional<String> ended = expired(now);
    if (ended.isPresent()) {
      return ended;
    }
    if (!addresses.contains(address)) {
      return Optional.of(
          "the certificate in %s is good for %s, and this process is reached at %s; issue it with --address %s"
              .formatted(folder, String.join(", ", addresses), address, address));
    }
    return Optional.empty();
  }

  /** Returns the consequence of a certificate that is not valid any more, if it is not. */
  public Optional<String> expired(Instant now) {
    return now.isAfter(until)
        ? Optional.of(
            "the certificate in %s ended at %s, and no new connection is made with it; issue it again with `troupe certs issue` and put it there: it is taken up without a restart"
                .formatted(folder, until))
        : Optional.empty();
  }

  /** Returns the advice that is due soon, if any. */
  public Optional<String> warning(Instant now) {
    return until.isBefore(now.plus(SOON))
        ? Optional.of(
            "the certificate in %s ends in %d days (%s); issue it again with `troupe certs issue` and put it there: it is taken up without a restart"
                .formatted(folder, Math.max(0, Duration.between(now, until).toDays()), until))
        : Optional.empty();
  }

  /**
   * Returns the context of TLS connections: this host's certificate, and the authority it trusts,
   * as the folder has them at each handshake.
   */
  public SSLContext context() throws IOException {
    ReloadingKeys live = new ReloadingKeys(folder);
    try {
      SSLContext context = SSLContext.getInstance("TLSv1.3");
      context.init(
          new KeyManager[] {live.keys()}, new TrustManager[] {live.trust()}, new SecureRandom());
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("the keys in %s: %s".formatted(folder, e.getMessage()), e);
    }
  }

  private static List<String> addresses(X509Certificate certificate)
      throws CertificateParsingException {
    List<String> addresses = new ArrayList<>();
    var names = certificate.getSubjectAlternativeNames();
    if (names != null) {
      names.forEach(name -> addresses.add(Objects.toString(name.get(1))));
    }
    return addresses;
  }

  public static KeyStore load(Path file, char[] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, password);
    }
    return store;
  }

  static void store(KeyStore store, Path file, char[] password)
      throws IOException, GeneralSecurityException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    store.store(bytes, password);
    PrivateFiles.write(file, bytes.toByteArray());
  }
}
