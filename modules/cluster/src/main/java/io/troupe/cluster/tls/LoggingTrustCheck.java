package io.troupe.cluster.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Delegates to a trust manager and reports every refused certificate: its subject, its addresses
 * and the reason. Akka's transport closes the connection without a message.
 */
final class LoggingTrustCheck extends X509ExtendedTrustManager {
  private final X509ExtendedTrustManager delegate;
  private final Consumer<String> report;

  LoggingTrustCheck(X509ExtendedTrustManager delegate, Consumer<String> report) {
    this.delegate = delegate;
    this.report = report;
  }

  private interface Check {
    void run() throws CertificateException;
  }

  private void check(X509Certificate[] chain, Check check) throws CertificateException {
    try {
      check.run();
    } catch (CertificateException refused) {
      report.accept(sentence(chain, refused));
      throw refused;
    }
  }

  private static String sentence(X509Certificate[] chain, CertificateException refused) {
    if (chain.length == 0) {
      return "refused a process without a certificate";
    }
    X509Certificate shown = chain[0];
    return "refused a process that shows the certificate of %s for %s, issued by %s: %s; issue it with this cluster's `troupe certs issue`"
        .formatted(
            shown.getSubjectX500Principal().getName(),
            addresses(shown),
            shown.getIssuerX500Principal().getName(),
            refused.getMessage());
  }

  private static String addresses(X509Certificate certificate) {
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      return names == null
          ? "no address"
          : names.stream()
              .map(name -> Objects.toString(name.get(1)))
              .collect(Collectors.joining(", "));
    } catch (CertificateException unreadable) {
      return "addresses that cannot be read";
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain, () -> delegate.checkClientTrusted(chain, type, engine));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain, () -> delegate.checkServerTrusted(chain, type, engine));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain, () -> delegate.checkClientTrusted(chain, type, socket));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain, () -> delegate.checkServerTrusted(chain, type, socket));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain, () -> delegate.checkClientTrusted(chain, type));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain, () -> delegate.checkServerTrusted(chain, type));
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return delegate.getAcceptedIssuers();
  }
}
