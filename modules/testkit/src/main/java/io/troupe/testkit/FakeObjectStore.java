package io.troupe.testkit;

import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * The part of S3 that Troupe needs, on the loopback device, in path style: objects with their
 * conditions and checksums, uploads in parts, listings (two objects a page), and the ways a server
 * fails. A bucket exists if an object was put into it.
 */
public final class FakeObjectStore implements AutoCloseable {
  private static final int PAGE = 2;
  private static final Pattern ETAG = Pattern.compile("<ETag>(?:&quot;|\")?([^<&\"]*)");

  /** The ways in which a request fails. */
  public enum Fault {
    /** The request succeeds. */
    NONE,
    /** Status 403 for every request of the bucket. */
    FORBIDDEN,
    /** Status 500, always. */
    BROKEN,
    /** Status 500 the first time. */
    BROKEN_ONCE,
    /** The connection ends half-way through the body. */
    CUT,
    /** Status 503 and SlowDown. */
    THROTTLED,
    /** Status 400 and ExpiredToken, always. */
    EXPIRED,
    /** Status 400 and ExpiredToken, the first time. */
    EXPIRED_ONCE,
    /** Status 403 and RequestTimeTooSkewed, the first time. */
    SKEWED_ONCE,
    /** Puts are done, and the answer is status 500: the first time. */
    ANSWER_LOST_ONCE,
    /**
     * A put stores other bytes than those that came, and the server's checksum shows the
     * difference: the first time.
     */
    DAMAGED_ONCE,
    /** A page of HTML with status 500, the first time. */
    HTML_ONCE
  }

  private final LoopbackServer server;
  private final Map<String, byte[]> objects = Collections.synchronizedMap(new TreeMap<>());
  private final Set<String> buckets = ConcurrentHashMap.newKeySet();
  private final Map<String, Fault> faults = new ConcurrentHashMap<>();
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, NavigableMap<Integer, byte[]>> uploads = new ConcurrentHashMap<>();
  private final AtomicInteger lastUpload = new AtomicInteger();

  private final boolean keys;

  private FakeObjectStore(boolean keys) throws IOException {
    this.keys = keys;
    server = LoopbackServer.start(this::answer);
  }

  /** Starts an empty server on a free port. */
  public static FakeObjectStore start() throws IOException {
    return new FakeObjectStore(false);
  }

  /** Starts one for this process, which has {@link AwsKeys} until the server is closed. */
  public static FakeObjectStore startWithKeys() throws IOException {
    AwsKeys.set();
    return new FakeObjectStore(true);
  }

  /** Returns the server's address. */
  public String endpoint() {
    return "http://localhost:" + server.port();
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

  /** Makes a bucket, which may be empty. */
  public FakeObjectStore bucket(String name) {
    buckets.add(name);
    return this;
  }

  /** The objects by bucket and key, as they are now. */
  public SortedMap<String, byte[]> objects() {
    synchronized (objects) {
      return new TreeMap<>(objects);
    }
  }

  /** Uploads in parts that were begun, and are neither complete nor given up. */
  public int openUploads() {
    return uploads.size();
  }

  /** Lets requests for a path, an object's or a bucket's, fail from now on. */
  public FakeObjectStore fail(String path, Fault fault) {
    faults.put(path, fault);
    return this;
  }

  /** Returns the requests so far: method, path with query, and who signed it. */
  public List<String> requests() {
    return List.copyOf(requests);
  }

  @Override
  public void close() {
    server.close();
    if (keys) {
      AwsKeys.clear();
    }
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
      byte[] body = exchange.getRequestBody().readAllBytes();
      Fault fault = fault(path, bucket);
      Optional<String> refusal = refusal(fault);
      if (refusal.isPresent()) {
        String[] words = refusal.get().split(" ", 2);
        refuse(exchange, Integer.parseInt(words[0]), words[1]);
      } else if (fault == Fault.HTML_ONCE) {
        send(exchange, 500, bytes("<html><body>Internal Server Error</body></html>"), false);
      } else if (!exists(bucket)) {
        refuse(exchange, 404, "NoSuchBucket");
      } else if (key.isEmpty()) {
        list(exchange, bucket);
      } else {
        answer(exchange, path, body, fault);
      }
    }
  }

  private boolean exists(String bucket) {
    return buckets.contains(bucket)
        || objects().keySet().stream().anyMatch(each -> each.startsWith(bucket + "/"));
  }

  /** Returns the fault of a request; a fault that happens once is over then. */
  private Fault fault(String path, String bucket) {
    String at = faults.containsKey(path) ? path : bucket;
    Fault fault = faults.getOrDefault(at, Fault.NONE);
    if (fault.name().endsWith("_ONCE")) {
      faults.remove(at);
    }
    return fault;
  }

  private static Optional<String> refusal(Fault fault) {
    return switch (fault) {
      case FORBIDDEN -> Optional.of("403 AccessDenied");
      case BROKEN, BROKEN_ONCE -> Optional.of("500 InternalError");
      case THROTTLED -> Optional.of("503 SlowDown");
      case EXPIRED, EXPIRED_ONCE -> Optional.of("400 ExpiredToken");
      case SKEWED_ONCE -> Optional.of("403 RequestTimeTooSkewed");
      case NONE, CUT, ANSWER_LOST_ONCE, DAMAGED_ONCE, HTML_ONCE -> Optional.empty();
    };
  }

  private void answer(HttpExchange exchange, String path, byte[] body, Fault fault)
      throws IOException {
    Map<String, String> query = query(exchange);
    switch (exchange.getRequestMethod()) {
      case "PUT" -> {
        byte[] stored = fault == Fault.DAMAGED_ONCE ? new byte[body.length] : body;
        if (query.containsKey("uploadId")) {
          putPart(exchange, query, stored, fault);
        } else {
          put(exchange, path, stored, fault);
        }
      }
      case "POST" -> upload(exchange, path, query, new String(body, StandardCharsets.UTF_8));
      case "DELETE" -> {
        String upload = query.getOrDefault("uploadId", "");
        if (upload.isEmpty()) {
          objects.remove(path);
          send(exchange, 204, new byte[0], false);
        } else if (uploads.remove(upload) == null) {
          refuse(exchange, 404, "NoSuchUpload");
        } else {
          send(exchange, 204, new byte[0], false);
        }
      }
      default -> {
        if (objects.containsKey(path)) {
          exchange.getResponseHeaders().set("ETag", tag(content(path)));
          send(exchange, 200, content(path), fault == Fault.CUT);
        } else {
          refuse(exchange, 404, "NoSuchKey");
        }
      }
    }
  }

  private void put(HttpExchange exchange, String path, byte[] body, Fault fault)
      throws IOException {
    String ifMatch = exchange.getRequestHeaders().getFirst("If-Match");
    String ifNoneMatch = exchange.getRequestHeaders().getFirst("If-None-Match");
    if ((ifNoneMatch != null && objects.containsKey(path))
        || (ifMatch != null && !ifMatch.equals(tag(content(path))))) {
      refuse(exchange, 412, "PreconditionFailed");
    } else if (isChecked(exchange, body, fault)) {
      objects.put(path, body);
      stored(exchange, body, fault);
    }
  }

  private void putPart(HttpExchange exchange, Map<String, String> query, byte[] body, Fault fault)
      throws IOException {
    NavigableMap<Integer, byte[]> parts = uploads.get(query.getOrDefault("uploadId", ""));
    if (parts == null) {
      refuse(exchange, 404, "NoSuchUpload");
    } else if (isChecked(exchange, body, fault)) {
      parts.put(Integer.valueOf(query.getOrDefault("partNumber", "0")), body);
      stored(exchange, body, fault);
    }
  }

  /** Refuses, as Amazon's server does, a body that is not what its checksum says. */
  private static boolean isChecked(HttpExchange exchange, byte[] body, Fault fault)
      throws IOException {
    String sent = exchange.getRequestHeaders().getFirst("x-amz-checksum-crc32");
    if (sent != null && fault != Fault.DAMAGED_ONCE && !sent.equals(crc32(body))) {
      refuse(exchange, 400, "BadDigest");
      return false;
    }
    return true;
  }

  private static void stored(HttpExchange exchange, byte[] body, Fault fault) throws IOException {
    if (fault == Fault.ANSWER_LOST_ONCE) {
      refuse(exchange, 500, "InternalError");
      return;
    }
    exchange.getResponseHeaders().set("ETag", tag(body));
    exchange.getResponseHeaders().set("x-amz-checksum-crc32", crc32(body));
    send(exchange, 200, new byte[0], false);
  }

  private void upload(HttpExchange exchange, String path, Map<String, String> query, String body)
      throws IOException {
    String id = query.getOrDefault("uploadId", "");
    if (id.isEmpty()) {
      String next = "upload-" + lastUpload.incrementAndGet();
      uploads.put(next, new ConcurrentSkipListMap<>());
      send(
          exchange,
          200,
          bytes(
              "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>"
                  .formatted(next)),
          false);
      return;
    }
    NavigableMap<Integer, byte[]> parts = uploads.get(id);
    if (parts == null) {
      refuse(exchange, 404, "NoSuchUpload");
      return;
    }
    List<String> named = ETAG.matcher(body).results().map(found -> found.group(1)).toList();
    List<String> there = parts.values().stream().map(part -> tag(part).replace("\"", "")).toList();
    if (!named.equals(there)) {
      refuse(exchange, 400, "InvalidPart");
      return;
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] part : parts.values()) {
      whole.write(part);
    }
    objects.put(path, whole.toByteArray());
    uploads.remove(id);
    send(
        exchange,
        200,
        bytes(
            "<CompleteMultipartUploadResult><ETag>%s-%d</ETag></CompleteMultipartUploadResult>"
                .formatted(id, there.size())),
        false);
  }

  private static String tag(byte[] content) {
    CRC32C crc = new CRC32C();
    crc.update(content);
    return "\"%08x%d\"".formatted(crc.getValue(), content.length);
  }

  private static String crc32(byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    return Base64.getEncoder()
        .encodeToString(ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array());
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
    String delimiter = query.getOrDefault("delimiter", "");
    List<String> found =
        objects().keySet().stream()
            .filter(path -> path.startsWith(prefix))
            .map(path -> rolledUp(path, prefix.length(), delimiter))
            .distinct()
            .filter(path -> path.compareTo(after) > 0)
            .toList();
    List<String> page = found.subList(0, Math.min(PAGE, found.size()));
    StringBuilder xml = new StringBuilder("<ListBucketResult>");
    xml.append("<IsTruncated>%s</IsTruncated>".formatted(found.size() > PAGE));
    if (found.size() > PAGE) {
      xml.append("<NextContinuationToken>%s</NextContinuationToken>".formatted(page.getLast()));
    }
    for (String path : page) {
      String key = path.substring(bucket.length() + 1);
      xml.append(
          delimiter.isEmpty() || !path.endsWith(delimiter)
              ? "<Contents><Key>%s</Key><Size>%d</Size></Contents>"
                  .formatted(key, content(path).length)
              : "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>".formatted(key));
    }
    send(exchange, 200, bytes(xml.append("</ListBucketResult>").toString()), false);
  }

  private static String rolledUp(String path, int from, String delimiter) {
    int end = delimiter.isEmpty() ? -1 : path.indexOf(delimiter, from);
    return end < 0 ? path : path.substring(0, end + delimiter.length());
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
      } else if (!pair.isEmpty()) {
        query.put(pair, "");
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
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    if (body.length == 0) {
      return;
    }
    exchange.getResponseBody().write(body, 0, cut ? body.length / 2 : body.length);
    exchange.getResponseBody().flush();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
