package io.troupe.cluster.link;

import io.troupe.cluster.secret.RunSecret;
import java.io.IOException;
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
      throw limit.kept() ? told(failure) : late(within, failure);
    }
    if (!limit.kept()) {
      throw late(within, new IOException("it came too late"));
    }
  }

  private static IOException late(Duration within, IOException closed) {
    return new IOException("the other side proved nothing within " + within, closed);
  }

  private static IOException told(IOException failure) {
    return failure instanceof SSLException
        ? new IOException(
            "the hosts' certificates do not fit each other (%s); set the same cluster.tls on all hosts, with keys of one `troupe certs` authority"
                .formatted(failure.getMessage()),
            failure)
        : failure;
  }
}
