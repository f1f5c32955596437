package io.troupe.testkit;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
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
  private final LoopbackServer server;
  private volatile int fault;

  private FakeInstanceMetadata() throws IOException {
    server = LoopbackServer.start(this::answer);
  }

  /** Metadata of an instance that stays. */
  public static FakeInstanceMetadata start() throws IOException {
    return new FakeInstanceMetadata();
  }

  /** Address of the metadata. */
  public String endpoint() {
    return "http://localhost:" + server.port();
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
        LoopbackServer.answer(exchange, 200, TOKEN);
      } else if (!TOKEN.equals(exchange.getRequestHeaders().getFirst("x-aws-ec2-metadata-token"))) {
        exchange.sendResponseHeaders(401, -1);
      } else if (entries.containsKey(path)) {
        LoopbackServer.answer(exchange, 200, entries.get(path));
      } else {
        exchange.sendResponseHeaders(404, -1);
      }
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
