package io.troupe.console;

import static io.troupe.core.Require.require;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/** The address of the console, and the callers that it lets in. */
public final class ConsoleSettings {
  private final InetAddress address;
  private final String host;
  private final int port;
  private final boolean hideText;
  private final AccessTokens tokens;
  private final boolean tokenRequired;
  private final Optional<ConsoleTls> tls;

  /**
   * Creates settings whose safety is checked.
   *
   * @param host name or address to listen on
   * @param port first one to try; 0 takes any
   * @param tokenRequired whether reading and acting need a token on the loopback interface too
   * @param tls for listeners beyond the loopback interface
   * @throws IllegalArgumentException if the host is unknown, or beyond loopback without TLS
   */
  public ConsoleSettings(
      String host,
      int port,
      boolean hideText,
      boolean tokenRequired,
      AccessTokens tokens,
      Optional<ConsoleTls> tls) {
    try {
      this.address = InetAddress.getByName(host);
    } catch (UnknownHostException unknown) {
      throw new IllegalArgumentException(
          "console.host %s is unknown to this machine; give an address of it".formatted(host),
          unknown);
    }
    require(port >= 0 && port <= 65_535, "console.port lies in 0 to 65535, not %d", port);
    require(
        address.isLoopbackAddress() || tls.isPresent(),
        "console.host %s is reachable from other machines, and console.keystore is not set; set it,"
            + " or listen on 127.0.0.1 and come through ssh -L",
        host);
    this.host = host;
    this.port = port;
    this.hideText = hideText;
    this.tokens = tokens;
    this.tokenRequired = tokenRequired || !address.isLoopbackAddress();
    this.tls = tls;
  }

  /** The loopback interface, without a token. */
  public static ConsoleSettings loopback(int port) {
    return new ConsoleSettings(
        "127.0.0.1", port, false, false, AccessTokens.random(), Optional.empty());
  }

  InetAddress address() {
    return address;
  }

  String host() {
    return host;
  }

  int port() {
    return port;
  }

  /** Whether texts of prompts and completions are withheld. */
  boolean hideText() {
    return hideText;
  }

  /** The secrets that open it. */
  public AccessTokens tokens() {
    return tokens;
  }

  /** Whether nothing is shown without a token. */
  public boolean tokenRequired() {
    return tokenRequired;
  }

  /** Returns the TLS identity, if there is one. */
  public Optional<ConsoleTls> tls() {
    return tls;
  }
}
