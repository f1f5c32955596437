package io.troupe.net.http;

import com.sun.net.httpserver.Headers;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Whether a request may have been sent by a foreign page in a browser of this machine. Such a page
 * can send requests to any port of it. By a name of its own that points here (DNS rebinding) it
 * could also read what is answered: then that name is in the Host. Else a browser says in Origin
 * where a request that changes something comes from, and asks before it sends one as JSON.
 */
public final class SameSiteCheck {
  private final Set<String> hosts;

  /**
   * Creates the check of a server with an address of its own, beside the names of the loopback
   * interface.
   */
  public SameSiteCheck(String host) {
    hosts = new HashSet<>(Set.of("127.0.0.1", "localhost", "[::1]"));
    hosts.add(host.toLowerCase(Locale.ROOT));
  }

  /** The name that a request calls the server by, if it is a foreign one. */
  public Optional<String> foreignHost(Headers headers) {
    String host = header(headers, "Host").toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", "");
    return hosts.contains(host) ? Optional.empty() : Optional.of(host);
  }

  /** The site that a request comes from, if it is a foreign one. */
  public static Optional<String> foreignOrigin(Headers headers) {
    String origin = header(headers, "Origin");
    boolean own =
        origin.isEmpty() || origin.replaceFirst("^https?://", "").equals(header(headers, "Host"));
    return own ? Optional.empty() : Optional.of(origin);
  }

  /** Whether a request has a body that is not said to be JSON. */
  public static boolean hasOtherBody(Headers headers) {
    String length = header(headers, "Content-Length");
    boolean body =
        headers.containsKey("Transfer-Encoding") || !(length.isEmpty() || length.equals("0"));
    return body && !isJson(headers);
  }

  /** Whether a request says that it carries JSON. */
  public static boolean isJson(Headers headers) {
    return header(headers, "Content-Type")
        .toLowerCase(Locale.ROOT)
        .matches("application/json\\s*(;.*)?");
  }

  /** A header's first value, or empty. */
  public static String header(Headers headers, String name) {
    return headers.containsKey(name) ? String.valueOf(headers.getFirst(name)) : "";
  }
}
