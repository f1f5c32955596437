package io.troupe.cluster;

import static io.troupe.core.Require.require;

import java.util.Optional;

/**
 * Where a process of the cluster listens.
 *
 * @param host name or address that the others reach it by
 * @param port 1 to 65535; 0 takes a free one
 */
public record HostPort(String host, int port) {
  private static final int MOST = 65535;

  public HostPort {
    require(!host.isBlank(), "an address has a host");
    require(port >= 0 && port <= MOST, "a port lies in 0 to %d, not %d", MOST, port);
  }

  /** Reads {@code HOST:PORT}. */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    require(colon > 0, "'%s' is no HOST:PORT", text);
    String port = text.substring(colon + 1);
    require(
        !port.isEmpty() && port.length() <= 5 && port.chars().allMatch(Character::isDigit),
        "'%s' is no HOST:PORT: %s is no port",
        text,
        port);
    return new HostPort(text.substring(0, colon), Integer.parseInt(port));
  }

  /** Reads {@code HOST:PORT}; empty if the text is something else. */
  static Optional<HostPort> read(String text) {
    try {
      return Optional.of(parse(text));
    } catch (IllegalArgumentException other) {
      return Optional.empty();
    }
  }

  /** Whether only processes of this host can reach it. */
  public boolean loopback() {
    return host.equals("localhost") || host.equals("::1") || host.startsWith("127.");
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
