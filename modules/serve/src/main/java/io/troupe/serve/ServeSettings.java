package io.troupe.serve;

import static io.troupe.core.Require.require;

import io.troupe.net.http.BoundedHttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * How a server listens.
 *
 * @param address where; a port of 0 takes any that is free
 * @param apiKey that requests carry as bearer; empty for none, on loopback only
 * @param maxRequests requests at a time; more are told to come back
 * @param maxBodyBytes of a request
 * @param ping how long a stream may be silent before a comment shows that it lives; a client that
 *     went away is noticed by it
 * @param awaitsWeights whether whoever starts it gives it weights; until then it is not healthy,
 *     and takes no others
 */
public record ServeSettings(
    InetSocketAddress address,
    String apiKey,
    int maxRequests,
    int maxBodyBytes,
    Duration ping,
    boolean awaitsWeights) {
  private static final int BODY = 8 << 20;
  private static final int REQUESTS = 256;
  private static final int OTHER_REQUESTS = 64;

  public ServeSettings {
    require(!address.isUnresolved(), "%s is no address of this machine", address.getHostString());
    require(
        !apiKey.isEmpty() || address.getAddress().isLoopbackAddress(),
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
        "",
        REQUESTS,
        BODY,
        Duration.ofMillis(250),
        false);
  }

  /** Room for as many requests again that are refused, and for those that are not draws. */
  BoundedHttpServer.Limits limits() {
    return BoundedHttpServer.Limits.of(2 * maxRequests + OTHER_REQUESTS);
  }

  /** The same with another bound. */
  public ServeSettings withMaxRequests(int requests) {
    return new ServeSettings(address, apiKey, requests, maxBodyBytes, ping, awaitsWeights);
  }

  /** The same, for who knows the key only. */
  public ServeSettings withKey(String key) {
    return new ServeSettings(address, key, maxRequests, maxBodyBytes, ping, awaitsWeights);
  }

  /** The same of a server whose first weights are read after it was started. */
  public ServeSettings awaitingWeights() {
    return new ServeSettings(address, apiKey, maxRequests, maxBodyBytes, ping, true);
  }
}
