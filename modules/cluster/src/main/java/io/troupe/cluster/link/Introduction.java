package io.troupe.cluster.link;

import io.troupe.cluster.secret.RunSecret;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import javax.net.ssl.SSLException;

/**
 * Proof of a run's secret over a connection, within a deadline, at which the connection is closed.
 * Over TLS it begins with the certificates of both hosts.
 *
 * @param purpose what the connection is for, in the same words on both sides
 */
public record Introduction(RunSecret secret, String purpose) {
  private interface Proof {
    void over(RunSecret.Line line) throws IOException;
  }

  /**
   * The side that connected.
   *
   * @throws IOException if the other side proves nothing; the caller closes the connection
   */
  public void greet(Wire wire, Duration within) throws IOException {
    prove(line -> secret.greet(line, purpose), wire, within);
  }

  /**
   * The side that listens.
   *
   * @throws IOException if the other side proves nothing; the caller closes the connection
   */
  public void welcome(Wire wire, Duration within) throws IOException {
    prove(line -> secret.welcome(line, purpose), wire, within);
  }

  private static void prove(Proof proof, Wire wire, Duration within) throws IOException {
    TimeLimit limit = TimeLimit.of(within, wire);
    try {
      proof.over(wire);
    } catch (IOException failure) {
      throw limit.kept() ? told(failure, wire) : late(within, failure);
    }
    if (!limit.kept()) {
      throw late(within, new IOException("it came too late"));
    }
  }

  private static IOException late(Duration within, IOException closed) {
    return new IOException("the other side proved nothing within " + within, closed);
  }

  /**
   * What refused a certificate may have closed the connection before this side could read why; then
   * the operating system's words come first.
   */
  private static IOException told(IOException failure, Wire wire) {
    boolean closed = failure instanceof SocketException || failure instanceof EOFException;
    if (failure instanceof SSLException || (closed && wire instanceof Wire.Encrypted)) {
      return new IOException(
          "%s (%s); set the same cluster.tls on all hosts, with keys of one `troupe certs` authority"
              .formatted(
                  closed
                      ? "the other side hung up, as it does on a certificate or a secret that does"
                          + " not fit"
                      : "the hosts' certificates do not fit each other",
                  failure.getMessage()),
          failure);
    }
    return failure;
  }
}
