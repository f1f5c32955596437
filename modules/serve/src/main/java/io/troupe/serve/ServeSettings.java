package io.troupe.serve;

import static io.troupe.core.Require.require;

import io.troupe.net.http.BoundedHttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * The address and the bounds of a server.
 *
 * @param address the listen address; port 0 takes any free port
 * @param keys the bearer keys of requests; none on loopback only
 * @param maxRequests most requests at a time; a further request is asked to retry later
 * @param maxBodyBytes most bytes of a request's body
 * @param ping time for which a stream may be silent before the server sends a comment; the comment
 *     shows that the server lives, and detects a client that disconnected
 * @param awaitsWeights whether another process will send the first weights; until then the server
 *     is not healthy, and accepts no request
 */
public record ServeSettings(
    InetSocketAddress address,
    Keys keys,
    int maxRequests,
    int maxBodyBytes,
    Duration ping,
    boolean awaitsWeights) {
  private static final int BODY = 8 << 20;
  private static final int REQUESTS = 256;
  private static final int OTHER_REQUESTS = 64;

  /**
   * The keys that requests must carry.
   *
   * @param all may do everything; empty for no key
   * @param sampling may sample and read, but neither pause the server, abort requests of others,
   *     nor change weights and adapters; empty for no such key
   */
  public record Keys(String all, String sampling) {
    /** No keys. */
    public static final Keys NONE = new Keys("", "");

    public Keys {
      require(
          sampling.isEmpty() || !all.isEmpty(),
          "a key for sampling needs a key for everything beside it: give one with --api-key-file");
      require(
          sampling.isEmpty() || !sampling.equals(all),
          "the key for sampling is the key for everything; give --sampling-key-file another one");
    }
  }

  public ServeSettings {
    require(!address.isUnresolved(), "%s is no address of this machine", address.getHostString());
    require(
        !keys.all().isEmpty() || address.getAddress().isLoopbackAddress(),
        "%s can be reached from other machines: give a key with --api-key-file, or listen on"
            + " 127.0.0.1",
        address.getHostString());
    require(maxRequests >= 1, "a server takes at least one request at a time, not %d", maxRequests);
    require(maxBodyBytes >= 1024, "a request may have 1024 bytes or more, not %d", maxBodyBytes);
    require(ping.isPositive(), "the pause between pings is longer than 0, not %s", ping);
  }

  /** Loopback, without a key. */
  public static ServeSettings loopback(int port) {
    return new ServeSettings(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        Keys.NONE,
        REQUESTS,
        BODY,
        Duration.ofMillis(250),
        false);
  }

  /** Room for as many refused requests again, and for requests that do not sample. */
  BoundedHttpServer.Limits limits() {
    return BoundedHttpServer.Limits.of(2 * maxRequests + OTHER_REQUESTS);
  }

  /** Returns these settings with another bound on requests. */
  public ServeSettings withMaxRequests(int requests) {
    return new ServeSettings(address, keys, requests, maxBodyBytes, ping, awaitsWeights);
  }

  /** Returns these settings with a key that every client must know. */
  public ServeSettings withKey(String key) {
    return new ServeSettings(
        address, new Keys(key, ""), maxRequests, maxBodyBytes, ping, awaitsWeights);
  }

  /** Returns these settings with a second key, for sampling alone. */
  public ServeSettings withSamplingKey(String key) {
    return new ServeSettings(
        address, new Keys(keys.all(), key), maxRequests, maxBodyBytes, ping, awaitsWeights);
  }

  /** Returns these settings for a server that reads its first weights after it was started. */
  public ServeSettings awaitingWeights() {
    return new ServeSettings(address, keys, maxRequests, maxBodyBytes, ping, true);
  }
}
