package io.troupe.console;

import com.sun.net.httpserver.HttpExchange;
import io.troupe.console.http.ApiException;
import io.troupe.net.http.SameSiteCheck;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The guard that lets callers pass or refuses them. Every request names a host we answer to
 * (against DNS rebinding), comes no faster than the limit, and carries a token where one is needed;
 * whatever changes something also carries a header that no foreign page can send without asking
 * (against request forgery). There are no cookies, so a browser adds no right to a request by
 * itself.
 */
final class RequestGuard {
  static final String VERB_HEADER = "X-Troupe-Console";
  private static final int BURST = 200;
  private static final int PER_SECOND = 60;
  private static final int MAX_PEERS = 1_000;

  private record Allowance(double tokens, long atNanos) {}

  private final ConsoleSettings settings;
  private final SameSiteCheck site;
  private final Map<String, Allowance> allowances =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Allowance> eldest) {
          return size() > MAX_PEERS;
        }
      };

  RequestGuard(ConsoleSettings settings) {
    this.settings = settings;
    this.site = new SameSiteCheck(settings.host());
  }

  /** Refuses a request that is not for us, or comes too fast. */
  void admit(HttpExchange exchange) throws ApiException {
    Optional<String> foreign = site.foreignHost(exchange.getRequestHeaders());
    if (foreign.isPresent()) {
      throw new ApiException(
          421,
          "this console does not answer to the name '%s'; use the link it printed"
              .formatted(foreign.get()));
    }
    if (!spend(exchange.getRemoteAddress().getAddress().getHostAddress())) {
      throw new ApiException(
          429, "more than %d requests a second from one address; wait".formatted(PER_SECOND));
    }
  }

  /** The role of the caller. */
  AccessTokens.Role role(HttpExchange exchange) throws ApiException {
    String authorization = header(exchange, "Authorization");
    if (authorization.startsWith("Bearer ")) {
      Optional<AccessTokens.Role> role =
          settings.tokens().roleOf(authorization.substring("Bearer ".length()).trim());
      return role.orElseThrow(
          () -> new ApiException(401, "this token opens nothing here; it is in console.json"));
    }
    if (settings.tokenRequired()) {
      throw new ApiException(
          401, "a token is needed: the link printed at start has it, and the run's console.json");
    }
    return AccessTokens.Role.OPERATOR;
  }

  /**
   * Refuses a caller that may not see into the process itself; {@code what} begins the sentence.
   */
  void operator(HttpExchange exchange, String what) throws ApiException {
    if (role(exchange) != AccessTokens.Role.OPERATOR) {
      throw new ApiException(403, what + " for the operator");
    }
  }

  /** Refuses a change that its sender may not make, or that another site made a browser send. */
  void admitChange(HttpExchange exchange) throws ApiException {
    if (role(exchange) != AccessTokens.Role.OPERATOR) {
      throw new ApiException(403, "this token may look, not act; use the operator's");
    }
    ownPage(exchange, "a change");
    if (!SameSiteCheck.isJson(exchange.getRequestHeaders())) {
      throw new ApiException(415, "a change is sent as application/json");
    }
    Optional<String> origin = SameSiteCheck.foreignOrigin(exchange.getRequestHeaders());
    if (origin.isPresent()) {
      throw new ApiException(403, "this change comes from another site: " + origin.get());
    }
  }

  /** Refuses what a foreign page can have a browser send; {@code what} begins the sentence. */
  void ownPage(HttpExchange exchange, String what) throws ApiException {
    if (!header(exchange, VERB_HEADER).equals("1")) {
      throw new ApiException(403, "%s needs the header %s: 1".formatted(what, VERB_HEADER));
    }
  }

  static String header(HttpExchange exchange, String name) {
    return SameSiteCheck.header(exchange.getRequestHeaders(), name);
  }

  private synchronized boolean spend(String peer) {
    long now = System.nanoTime();
    Allowance had = allowances.getOrDefault(peer, new Allowance(BURST, now));
    double tokens =
        Math.min(BURST, had.tokens() + PER_SECOND * (now - had.atNanos()) / 1_000_000_000.0);
    allowances.put(peer, new Allowance(Math.max(0, tokens - 1), now));
    return tokens >= 1;
  }
}
