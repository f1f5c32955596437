package io.troupe.environments.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.command.JsonLineProgram;
import io.troupe.environments.command.ProgramSettings;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * A server behind HTTP (MCP's "Streamable HTTP"): each message is a POST, whose answer is one
 * message as JSON, or a stream of events with the reply among them. Redirects are not followed, and
 * the stream of a GET, on which a server may speak unasked, is not opened.
 *
 * <p>A session that the server no longer knows (404) ends this transport; nothing of the request
 * was carried out.
 */
final class HttpMcpTransport implements McpTransport {
  private static final String SESSION = "Mcp-Session-Id";
  private static final Duration FAREWELL = Duration.ofSeconds(1);
  private static final int EXCERPT = 200;
  private static final Pattern SESSION_ID = Pattern.compile("[\\x21-\\x7e]{1,512}");

  /** A revision is a date. */
  private static final Pattern REVISION = Pattern.compile("[0-9A-Za-z.-]{1,32}");

  private final ProgramSettings settings;
  private final URI url;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final AtomicLong ids = new AtomicLong();

  /** Completes when no message without a waiting caller is under way. */
  private final AtomicReference<CompletableFuture<?>> told =
      new AtomicReference<>(CompletableFuture.completedFuture(true));

  private volatile String session = "";
  private volatile String revision = "";
  private volatile boolean alive = true;

  private HttpMcpTransport(ProgramSettings settings, URI url) {
    this.settings = settings;
    this.url = url;
  }

  static HttpMcpTransport of(ProgramSettings settings) {
    HttpMcpTransport transport =
        new HttpMcpTransport(settings, URI.create(settings.command().getFirst()));
    var _ = transport.request(); // a header that cannot be sent is found at once
    return transport;
  }

  private HttpRequest.Builder request() {
    HttpRequest.Builder request = HttpRequest.newBuilder(url);
    for (String header : settings.command().subList(1, settings.command().size())) {
      int colon = header.indexOf(':');
      try {
        request.header(
            header.substring(0, Math.max(0, colon)), header.substring(colon + 1).strip());
      } catch (IllegalArgumentException unfit) {
        throw new EnvironmentFailedException(
            "a word behind the URL %s is no header: %s; write \"Name: value\""
                .formatted(url, unfit.getMessage()),
            unfit);
      }
    }
    if (!session.isEmpty()) {
      request.header(SESSION, session);
    }
    if (!revision.isEmpty()) {
      request.header("MCP-Protocol-Version", revision);
    }
    return request;
  }

  private HttpRequest post(ObjectNode message) {
    return request()
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .POST(HttpRequest.BodyPublishers.ofString(message.toString()))
        .build();
  }

  @Override
  public JsonNode ask(ObjectNode message) {
    long id = ids.incrementAndGet();
    HttpRequest request = post(message.put("id", id));
    CompletableFuture<JsonNode> reply = new CompletableFuture<>();
    Thread asking =
        Thread.ofVirtual()
            .name("mcp request")
            .start(
                () -> {
                  try {
                    reply.complete(reply(request, id));
                  } catch (IOException | InterruptedException | RuntimeException failure) {
                    reply.completeExceptionally(failure);
                  }
                });
    String method = message.path("method").asText();
    try {
      return reply.get(settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      if (!method.equals("initialize")) { // which MCP forbids to cancel
        tell(McpTransport.cancelled(id, "no reply within " + settings.timeout()));
      }
      throw new EnvironmentFailedException(
          "%s did not reply within %s to %s".formatted(url, settings.timeout(), method), late);
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof EnvironmentFailedException known
          ? known
          : new EnvironmentFailedException(
              "%s cannot be asked %s: %s".formatted(url, method, failure.getCause()), failure);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new EnvironmentFailedException("interrupted while waiting for " + url);
    } finally {
      asking.interrupt(); // an answer that comes later is not read
    }
  }

  private JsonNode reply(HttpRequest request, long id) throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = response.body()) {
      if (response.statusCode() == 404 && !session.isEmpty()) {
        alive = false;
        throw new McpSessionLostException(url + " has forgotten the session");
      }
      if (response.statusCode() != 200) {
        throw failed("answers HTTP %d: %s".formatted(response.statusCode(), excerpt(body)));
      }
      response.headers().firstValue(SESSION).ifPresent(this::begin);
      return response
              .headers()
              .firstValue("Content-Type")
              .orElse("")
              .startsWith("text/event-stream")
          ? event(new Lines(body), id)
          : whole(new Lines(body), id);
    }
  }

  private void begin(String id) {
    if (!SESSION_ID.matcher(id).matches()) {
      throw failed("gives a session an id that is no visible ASCII of 512 characters at most");
    }
    session = id;
  }

  private JsonNode whole(Lines lines, long id) throws IOException {
    StringBuilder text = new StringBuilder();
    while (lines.next()) {
      text.append(lines.line()).append('\n');
    }
    JsonNode message = JsonLineProgram.parsed(text.toString());
    if (!isReply(message, id)) {
      throw failed("answers with no reply to the request: " + cut(text.toString()));
    }
    return message;
  }

  /**
   * Answers a message that asks something, and passes over any other that is no reply to the
   * request.
   */
  private JsonNode event(Lines lines, long id) throws IOException {
    StringBuilder data = new StringBuilder();
    while (lines.next()) {
      String line = lines.line();
      if (line.startsWith("data:")) {
        data.append(line.substring("data:".length()).strip()).append('\n');
      } else if (line.isEmpty()) {
        JsonNode message = JsonLineProgram.parsed(data.toString());
        data.setLength(0);
        if (isReply(message, id)) {
          return message;
        }
        McpTransport.reply(message).ifPresent(this::tell);
      }
    }
    throw failed("ends its stream of events without a reply");
  }

  private static boolean isReply(JsonNode message, long id) {
    return !message.has("method")
        && message.path("id").isIntegralNumber()
        && message.path("id").longValue() == id;
  }

  /** Sends without waiting for what becomes of it. */
  @Override
  public void tell(ObjectNode message) {
    CompletableFuture<?> sent =
        http.sendAsync(post(message), HttpResponse.BodyHandlers.discarding());
    var _ = told.updateAndGet(before -> CompletableFuture.allOf(before, sent));
  }

  @Override
  public void agreed(String agreed) {
    if (!REVISION.matcher(agreed).matches()) {
      throw failed("speaks a revision of MCP that is no date");
    }
    revision = agreed;
  }

  @Override
  public boolean isAlive() {
    return alive;
  }

  private EnvironmentFailedException failed(String what) {
    return new EnvironmentFailedException(url + " " + what);
  }

  private String excerpt(InputStream body) throws IOException {
    return cut(new String(body.readNBytes(4 * EXCERPT), UTF_8));
  }

  private static String cut(String text) {
    String line = text.strip().replaceAll("\\p{Cntrl}+", " ");
    return line.length() <= EXCERPT ? line : line.substring(0, EXCERPT) + "…";
  }

  /** Sends what is under way and ends the session at the server, if that answers soon. */
  @Override
  public void close() {
    boolean known = alive && !session.isEmpty();
    alive = false;
    CompletableFuture<?> ended =
        known
            ? http.sendAsync(
                request().timeout(FAREWELL).DELETE().build(),
                HttpResponse.BodyHandlers.discarding())
            : CompletableFuture.completedFuture(true);
    try {
      var _ =
          CompletableFuture.allOf(told.get(), ended)
              .get(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException unheard) {
      // The server forgets sessions and calls by itself.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    http.shutdownNow();
  }

  /** Lines of an answer, which all together have a limit. */
  private final class Lines {
    private final InputStream in;
    private int room = settings.lineBytes();
    private String line = "";

    Lines(InputStream body) {
      this.in = new BufferedInputStream(body);
    }

    /** Whether there is a next line; a last one need not end. */
    boolean next() throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      int next = in.read();
      boolean any = next >= 0;
      while (next >= 0 && next != '\n') {
        if (--room < 0) {
          throw failed("answers more than %d bytes".formatted(settings.lineBytes()));
        }
        bytes.write(next);
        next = in.read();
      }
      String text = bytes.toString(UTF_8);
      line = text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      return any;
    }

    String line() {
      return line;
    }
  }
}
