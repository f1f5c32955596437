package io.troupe.testkit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * As much of S3 as downloads need, on the loopback device: GET, HEAD and LIST (two objects a page)
 * in path style, and the ways a server fails. A bucket exists if an object was put into it.
 */
public final class FakeObjectStore implements AutoCloseable {
  private static final int PAGE = 2;

  /** How a request fails. */
  public enum Fault {
    /** It does not. */
    NONE,
    /** Status 403 for every request of the bucket. */
    FORBIDDEN,
    /** Status 500, always. */
    BROKEN,
    /** Status 500 the first time. */
    BROKEN_ONCE,
    /** The connection ends half-way through the body. */
    CUT
  }

  private final HttpServer server;
  private final Map<String, byte[]> objects = Collections.synchronizedMap(new TreeMap<>());
  private final Map<String, Fault> faults = new ConcurrentHashMap<>();
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());

  private FakeObjectStore(HttpServer server) {
    this.server = server;
  }

  /** Starts an empty server on a free port. */
  public static FakeObjectStore start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    FakeObjectStore objects = new FakeObjectStore(server);
    server.createContext("/", objects::answer);
    server.start();
    return objects;
  }

  /** Its address. */
  public String endpoint() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  /**
   * Stores an object.
   *
   * @param path bucket and key: {@code bucket/folder/file}
   */
  public FakeObjectStore put(String path, byte[] content) {
    objects.put(path, content.clone());
    return this;
  }

  /** Stores a text. */
  public FakeObjectStore put(String path, String content) {
    return put(path, content.getBytes(StandardCharsets.UTF_8));
  }

  /** Lets requests for a path, an object's or a bucket's, fail from now on. */
  public FakeObjectStore fail(String path, Fault fault) {
    faults.put(path, fault);
    return this;
  }

  /** What was asked so far: method, path with query, and who signed it. */
  public List<String> requests() {
    return List.copyOf(requests);
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath().substring(1);
      String bucket = path.contains("/") ? path.substring(0, path.indexOf('/')) : path;
      String key = path.substring(Math.min(path.length(), bucket.length() + 1));
      requests.add(
          "%s %s %s"
              .formatted(
                  exchange.getRequestMethod(),
                  exchange.getRequestURI(),
                  signer(exchange.getRequestHeaders().getFirst("Authorization"))));
      Fault fault = faults.getOrDefault(path, faults.get(bucket));
      if (fault == Fault.BROKEN_ONCE) {
        faults.remove(path);
      }
      if (fault == Fault.FORBIDDEN) {
        refuse(exchange, 403, "AccessDenied");
      } else if (fault == Fault.BROKEN || fault == Fault.BROKEN_ONCE) {
        refuse(exchange, 500, "InternalError");
      } else if (objects.keySet().stream().noneMatch(each -> each.startsWith(bucket + "/"))) {
        refuse(exchange, 404, "NoSuchBucket");
      } else if (key.isEmpty()) {
        list(exchange, bucket);
      } else if (!objects.containsKey(path)) {
        refuse(exchange, 404, "NoSuchKey");
      } else {
        send(exchange, 200, content(path), fault == Fault.CUT);
      }
    }
  }

  private static String signer(String authorization) {
    return authorization == null
        ? "nobody"
        : authorization.replaceAll(".*Credential=([^/]*)/.*", "$1");
  }

  private void list(HttpExchange exchange, String bucket) throws IOException {
    Map<String, String> query = query(exchange);
    String prefix = bucket + "/" + query.getOrDefault("prefix", "");
    String after = query.getOrDefault("continuation-token", "");
    List<String> found =
        objects.keySet().stream()
            .filter(path -> path.startsWith(prefix) && path.compareTo(after) > 0)
            .toList();
    List<String> page = found.subList(0, Math.min(PAGE, found.size()));
    StringBuilder xml = new StringBuilder("<ListBucketResult>");
    xml.append("<IsTruncated>%s</IsTruncated>".formatted(found.size() > PAGE));
    if (found.size() > PAGE) {
      xml.append("<NextContinuationToken>%s</NextContinuationToken>".formatted(page.getLast()));
    }
    for (String path : page) {
      xml.append(
          "<Contents><Key>%s</Key><Size>%d</Size></Contents>"
              .formatted(path.substring(bucket.length() + 1), content(path).length));
    }
    send(exchange, 200, bytes(xml.append("</ListBucketResult>").toString()), false);
  }

  private byte[] content(String path) {
    return objects.getOrDefault(path, new byte[0]);
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> query = new HashMap<>();
    String text = exchange.getRequestURI().getQuery();
    for (String pair : text == null ? new String[0] : text.split("&", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        query.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
    }
    return query;
  }

  private static void refuse(HttpExchange exchange, int status, String code) throws IOException {
    send(exchange, status, bytes("<Error><Code>%s</Code></Error>".formatted(code)), false);
  }

  private static void send(HttpExchange exchange, int status, byte[] body, boolean cut)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/xml");
    exchange.getResponseHeaders().set("ETag", "\"0\"");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body, 0, cut ? body.length / 2 : body.length);
    exchange.getResponseBody().flush();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
