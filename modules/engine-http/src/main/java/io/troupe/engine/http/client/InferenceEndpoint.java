package io.troupe.engine.http.client;

import static io.troupe.core.Require.require;

import java.net.URI;
import java.time.Duration;

/**
 * An inference server and the limits of its use.
 *
 * @param base URL without a path, such as {@code http://127.0.0.1:8000}
 * @param apiKey bearer key; empty for none. No text that this class makes contains it.
 * @param concurrency most completions that the server samples at a time for this process
 * @param patience timeouts
 */
public record InferenceEndpoint(URI base, String apiKey, int concurrency, Patience patience) {
  /**
   * Timeouts.
   *
   * @param connect for a connection
   * @param firstToken from the request to the first token, which includes the server's queue
   * @param idle between two tokens, while the server is not paused
   * @param total for the whole answer
   */
  public record Patience(Duration connect, Duration firstToken, Duration idle, Duration total) {
    /** 5 s, 2 min, 1 min, 30 min. */
    public static final Patience DEFAULT =
        new Patience(
            Duration.ofSeconds(5),
            Duration.ofMinutes(2),
            Duration.ofMinutes(1),
            Duration.ofMinutes(30));

    /**
     * Returns these timeouts with another for the first token; the total grows by the same amount.
     */
    public Patience withFirstToken(Duration longest) {
      Duration more = longest.minus(firstToken);
      return new Patience(connect, longest, idle, more.isPositive() ? total.plus(more) : total);
    }

    public Patience {
      require(
          connect.isPositive() && firstToken.isPositive() && idle.isPositive(),
          "patience is longer than 0: connect %s, first token %s, idle %s",
          connect,
          firstToken,
          idle);
      require(
          total.compareTo(idle) >= 0,
          "the patience for a whole answer (%s) is at least that for one token (%s)",
          total,
          idle);
    }
  }

  public InferenceEndpoint {
    require(
        "http".equals(base.getScheme()) || "https".equals(base.getScheme()),
        "an endpoint is a URL that starts with http:// or https://, not '%s'",
        base);
    require(
        base.getHost() != null && (base.getPath().isEmpty() || base.getPath().equals("/")),
        "an endpoint is scheme, host and port alone, as http://127.0.0.1:8000, not '%s'",
        base);
    require(
        concurrency >= 1,
        "an endpoint samples at least one completion at a time, not %d",
        concurrency);
  }

  /** A server without a key, with the default timeouts. */
  public static InferenceEndpoint of(String base, int concurrency) {
    return new InferenceEndpoint(URI.create(base), "", concurrency, Patience.DEFAULT);
  }

  /** This server with other timeouts. */
  public InferenceEndpoint withPatience(Patience other) {
    return new InferenceEndpoint(base, apiKey, concurrency, other);
  }

  @Override
  public String toString() {
    return base.toString();
  }
}
