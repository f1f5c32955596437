package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands requests of agents on to a gateway, and writes their bodies into a folder. Long texts,
 * which are the agents' prompts, are cut; ids of machines and folders are left out.
 */
final class RecordingRelay implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int LONGEST = 80;
  private static final int KEPT = 40;

  private final HttpServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger count = new AtomicInteger();
  private final String gateway;
  private final Path folder;
  private final String name;

  private RecordingRelay(HttpServer server, String gateway, Path folder, String name) {
    this.server = server;
    this.gateway = gateway;
    this.folder = folder;
    this.name = name;
  }

  static RecordingRelay start(String gateway, Path folder, String name) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    RecordingRelay relay = new RecordingRelay(server, gateway, folder, name);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", relay::handle);
    server.start();
    return relay;
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    if (body.length > 0) {
      Path file = folder.resolve("%s-%d.json".formatted(name, count.getAndIncrement()));
      Files.writeString(file, cut(JSON.readTree(body)).toString());
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(gateway + exchange.getRequestURI()))
            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
    exchange
        .getRequestHeaders()
        .forEach(
            (header, values) -> {
              if (!header.matches("(?i)host|connection|content-length|accept-encoding|upgrade")) {
                values.forEach(value -> request.header(header, value));
              }
            });
    try {
      HttpResponse<byte[]> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      response
          .headers()
          .firstValue("Content-Type")
          .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
      boolean head = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(response.statusCode(), head ? -1 : response.body().length);
      if (!head) {
        exchange.getResponseBody().write(response.body());
      }
      exchange.close();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private static JsonNode cut(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.properties().forEach(entry -> entry.setValue(cut(entry.getValue())));
      if (object.path("description").isTextual()) {
        object.put("description", "d");
      }
      return object;
    }
    if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, cut(array.get(i)));
      }
      return array;
    }
    return node.isTextual() ? TextNode.valueOf(cut(node.textValue())) : node;
  }

  private static String cut(String text) {
    String plain =
        text.replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0")
            .replaceAll("[0-9a-f]{64}", "0")
            .replaceAll("/tmp/[^<\\s\"]*", "/work");
    return plain.length() > LONGEST ? plain.substring(0, KEPT) + "…" : plain;
  }

  @Override
  public void close() {
    server.stop(0);
    client.close();
  }
}
