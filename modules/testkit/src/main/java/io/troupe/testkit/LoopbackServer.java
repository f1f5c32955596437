package io.troupe.testkit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** An HTTP server on loopback whose answers a test plays, one request after the other. */
public final class LoopbackServer implements AutoCloseable {
  private final HttpServer server;

  private LoopbackServer(HttpServer server) {
    this.server = server;
  }

  /** Starts a server at a free port; the handler closes its exchanges. */
  public static LoopbackServer start(HttpHandler handler) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", handler);
    server.start();
    return new LoopbackServer(server);
  }

  /** Answers a request whole. */
  public static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** Returns the port of the server. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Returns the address without a path. */
  public String url() {
    return "http://127.0.0.1:" + port();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
