package io.troupe.net.link;

import io.troupe.net.secret.RunSecret;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import javax.net.ssl.SSLException;

/**
 * Proof of a run's secret over a connection, within a deadline, at which the connection is closed.
 * Over TLS it begins with the certificates of both hosts.
 *
 * @param purpose purpose of the connection, in the same words on both sides
 */
public record PeerHandshake(RunSecret secret, String purpose) {
  private interface Proof {
    void over(RunSecret.DuplexStream line) throws IOException;
  }

  /**
   * The side that connected.
   *
   * @throws IOException if the other side proves nothing; the caller closes the connection
   */
  public void asClient(Connection wire, Duration within) throws IOException {
    prove(line -> secret.proveAsClient(line, purpose), wire, within);
  }

  /**
   * The side that listens.
   *
   * @throws IOException if the other side proves nothing; the caller closes the connection
   */
  public void asServer(Connection wire, Duration within) throws IOException {
    prove(line -> secret.proveAsServer(line, purpose), wire, within);
  }

  private static void prove(Proof proof, Connection wire, Duration within) throws IOException {
    ConnectionDeadline limit = ConnectionDeadline.of(within, wire);
    try {
      proof.over(wire);
    } catch (IOException failure) {
      throw limit.cancel() ? withPeerReason(failure, wire) : timedOut(within, failure);
    }
    if (!limit.cancel()) {
      throw timedOut(within, new IOException("it came too late"));
    }
  }

  private static IOException timedOut(Duration within, IOException closed) {
    return new IOException("the other side proved nothing within " + within, closed);
  }

  /**
   * Adds the peer's reason to a failure: the peer may have closed the connection before this side
   * could read why; then the operating system's words come first.
   */
  private static IOException withPeerReason(IOException failure, Connection wire) {
    boolean closed = failure instanceof SocketException || failure instanceof EOFException;
    if (failure instanceof SSLException || (closed && wire instanceof Connection.Encrypted)) {
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
