package io.troupe.cluster.weights;

import static io.troupe.core.Require.require;

import java.net.InetSocketAddress;

/** Addresses as text: host:port, with brackets round an IPv6 host. */
public final class Addresses {
  private Addresses() {}

  /** Writes one. */
  public static String format(InetSocketAddress address) {
    String host = address.getHostString();
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /** Reads one. */
  public static InetSocketAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    require(colon > 0, "an address is host:port, not '%s'", text);
    String host = text.substring(0, colon).replace("[", "").replace("]", "");
    return new InetSocketAddress(host, Integer.parseInt(text.substring(colon + 1)));
  }
}
