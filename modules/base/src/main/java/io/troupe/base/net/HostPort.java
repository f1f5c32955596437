package io.troupe.base.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The address at which a process listens: {@code HOST:PORT}. An IPv6 address is in brackets in text
 * ({@code [::1]:7400}), because its colons would be confused with the port's, and without brackets
 * in {@link #host}.
 *
 * @param host name or address by which other processes reach the process; brackets around an IPv6
 *     address are removed
 * @param port 1 to 65535; 0 takes a free one
 */
public record HostPort(String host, int port) {
  private static final int MOST = 65535;

  public HostPort {
    host = withoutBrackets(host);
    if (host.isBlank()) {
      throw new IllegalArgumentException("an address has a host");
    }
    if (port < 0 || port > MOST) {
      throw new IllegalArgumentException("a port lies in 0 to %d, not %d".formatted(MOST, port));
    }
  }

  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /**
   * Reads {@code HOST:PORT}.
   *
   * @throws IllegalArgumentException if the text is no address; the message says why
   */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException("'%s' is no HOST:PORT".formatted(text));
    }
    String host = text.substring(0, colon);
    String port = text.substring(colon + 1);
    if (port.isEmpty() || port.length() > 5 || !port.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new IllegalArgumentException(
          "'%s' is no HOST:PORT: %s is no port".formatted(text, port));
    }
    if (host.startsWith("[") != host.endsWith("]")
        || (host.indexOf(':') >= 0 && !host.startsWith("["))) {
      throw new IllegalArgumentException(
          "'%s' is no HOST:PORT: an IPv6 address is in brackets, as in [::1]:7400".formatted(text));
    }
    return new HostPort(host, Integer.parseInt(port));
  }

  /** Reads {@code HOST:PORT}; empty if the text is no address. */
  public static Optional<HostPort> read(String text) {
    try {
      return Optional.of(parse(text));
    } catch (IllegalArgumentException other) {
      return Optional.empty();
    }
  }

  /** Returns the address of a socket without looking its host up. */
  public static HostPort of(InetSocketAddress address) {
    return new HostPort(address.getHostString(), address.getPort());
  }

  /** Returns the address for a socket; the host is looked up. */
  public InetSocketAddress socketAddress() {
    return new InetSocketAddress(host, port);
  }

  /**
   * Whether only processes of this host can reach the address. Names are not looked up; {@code
   * localhost} is the only loopback name.
   */
  public boolean loopback() {
    if (host.equals("localhost")) {
      return true;
    }
    try {
      return InetAddress.ofLiteral(host).isLoopbackAddress();
    } catch (IllegalArgumentException name) {
      return false;
    }
  }

  /** Returns the host as it is written before a colon and a port: an IPv6 address in brackets. */
  public String uriHost() {
    return host.indexOf(':') >= 0 ? "[" + host + "]" : host;
  }

  @Override
  public String toString() {
    return uriHost() + ":" + port;
  }
}
