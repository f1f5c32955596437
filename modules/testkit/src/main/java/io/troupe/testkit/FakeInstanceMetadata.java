package io.troupe.testkit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The metadata of an EC2 instance, version 2 of their protocol, on loopback. */
public final class FakeInstanceMetadata implements AutoCloseable {
  /** Path of a notice that EC2 takes the instance back. */
  public static final String ACTION = "/latest/meta-data/spot/instance-action";

  /** Path of the advice to move elsewhere. */
  public static final String REBALANCE = "/latest/meta-data/events/recommendations/rebalance";

  private static final String TOKEN = "token-of-the-fake";

  private final Map<String, String> entries = new ConcurrentHashMap<>();
  private final HttpServer server;
  private volatile int fault;

  private FakeInstanceMetadata(HttpServer server) {
    this.server = server;
  }

  /** Metadata of an instance that stays. */
  public static FakeInstanceMetadata start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    FakeInstanceMetadata fake = new FakeInstanceMetadata(server);
    server.createContext("/", fake::answer);
    server.start();
    return fake;
  }

  /** Address of the metadata. */
  public String endpoint() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  /** Puts an entry. */
  public void put(String path, String body) {
    entries.put(path, body);
  }

  /** Answers every request with a status; 0 answers as usual. */
  public void failWith(int status) {
    fault = status;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      String ttl = exchange.getRequestHeaders().getFirst("x-aws-ec2-metadata-token-ttl-seconds");
      if (fault != 0) {
        exchange.sendResponseHeaders(fault, -1);
      } else if (path.equals("/latest/api/token") && exchange.getRequestMethod().equals("PUT")) {
        exchange.getResponseHeaders().set("x-aws-ec2-metadata-token-ttl-seconds", ttl);
        send(exchange, TOKEN);
      } else if (!TOKEN.equals(exchange.getRequestHeaders().getFirst("x-aws-ec2-metadata-token"))) {
        exchange.sendResponseHeaders(401, -1);
      } else if (entries.containsKey(path)) {
        send(exchange, entries.get(path));
      } else {
        exchange.sendResponseHeaders(404, -1);
      }
    }
  }

  private static void send(HttpExchange exchange, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
