package io.troupe.net.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.troupe.base.hash.Sha256;
import io.troupe.net.http.HttpDownload.Expected;
import io.troupe.net.http.HttpDownload.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Downloads from a server of this process that fails as it is told. */
final class HttpDownloadTest {
  private static final byte[] CONTENT = "0123456789".getBytes(StandardCharsets.UTF_8);
  private static final Patience SHORT = new Patience(Duration.ofSeconds(5), Duration.ofMillis(1));

  @TempDir private Path folder;

  private final List<String> ranges = new CopyOnWriteArrayList<>();
  private final List<String> tokens = new CopyOnWriteArrayList<>();
  private final AtomicInteger asked = new AtomicInteger();
  private HttpServer server;
  private Path file = Path.of("");

  /** Answers a request, the first of which has number 1. */
  private interface Answer {
    void send(HttpExchange exchange, int number, int from) throws IOException;
  }

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
    file = folder.resolve("weights");
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private URI serve(Answer answer) {
    server.createContext(
        "/file",
        exchange -> {
          String range =
              Optional.ofNullable(exchange.getRequestHeaders().getFirst("Range")).orElse("");
          ranges.add(range);
          tokens.add(
              Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
                  .orElse(""));
          int from = range.isEmpty() ? 0 : Integer.parseInt(range.replaceAll("\\D", ""));
          try (exchange) {
            answer.send(exchange, asked.incrementAndGet(), from);
          }
        });
    return URI.create("http://" + host() + "/file");
  }

  private String host() {
    return "localhost:" + server.getAddress().getPort();
  }

  /** Sends the bytes from one to another, and promises all that are left. */
  private static void send(HttpExchange exchange, int from, int to) throws IOException {
    exchange.sendResponseHeaders(from > 0 ? 206 : 200, CONTENT.length - from);
    exchange.getResponseBody().write(CONTENT, from, to - from);
    exchange.getResponseBody().flush();
  }

  private static Expected promised() {
    return new Expected(CONTENT.length, Sha256.hex(CONTENT));
  }

  private HttpDownload download() {
    return new HttpDownload(host(), "secret", SHORT);
  }

  private Path unfinished() {
    return folder.resolve("weights" + HttpDownload.UNFINISHED);
  }

  @Test
  void fetch_connectionsThatAreCut_continuesEachFromItsLastByte() throws IOException {
    URI address = serve((exchange, number, from) -> send(exchange, from, Math.min(10, from + 2)));
    download().fetch(address, file, promised());

    assertThat(file).hasBinaryContent(CONTENT);
    assertThat(ranges).containsExactly("", "bytes=2-", "bytes=4-", "bytes=6-", "bytes=8-");
    assertThat(unfinished()).doesNotExist();
  }

  @Test
  void fetch_partOfAnEarlierProcess_isContinued() throws IOException {
    Files.writeString(unfinished(), "0123");
    download().fetch(serve((exchange, number, from) -> send(exchange, from, 10)), file, promised());
    assertThat(ranges).containsExactly("bytes=4-");
    assertThat(file).hasBinaryContent(CONTENT);
  }

  @Test
  void fetch_serverWithoutRanges_beginsAgain() throws IOException {
    Files.writeString(unfinished(), "abcd");
    download().fetch(serve((exchange, number, from) -> send(exchange, 0, 10)), file, promised());
    assertThat(file).hasBinaryContent(CONTENT);
  }

  @Test
  void fetch_stormOfServerErrors_endsAfterFiveInARow_andNextTimeContinues() throws IOException {
    URI address =
        serve(
            (exchange, number, from) -> {
              if (number <= 8) {
                exchange.sendResponseHeaders(number % 2 == 0 ? 503 : 429, -1);
              } else {
                send(exchange, from, 10);
              }
            });
    assertThatThrownBy(() -> download().fetch(address, file, promised()))
        .hasMessage(address + ": status 429, 5 times in a row");
    assertThat(file).doesNotExist();
    download().fetch(address, file, promised());
    assertThat(file).hasBinaryContent(CONTENT);
    assertThat(asked).hasValue(9);
  }

  @Test
  void fetch_otherContentThanPromised_isDiscarded() {
    URI address = serve((exchange, number, from) -> send(exchange, from, 10));
    Expected other = new Expected(CONTENT.length, Sha256.hex(new byte[0]));
    assertThatThrownBy(() -> download().fetch(address, file, other))
        .hasMessageContaining("its content is not the promised one (SHA-256 e3b0c442");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void fetch_refusal_isNotTriedAgain() {
    URI address = serve((exchange, number, from) -> exchange.sendResponseHeaders(401, -1));
    assertThatThrownBy(() -> download().fetch(address, file, promised()))
        .isInstanceOf(HttpDownload.RefusedException.class)
        .hasMessage(address + ": status 401");
    assertThat(asked).hasValue(1);
  }

  @Test
  void fetch_redirectionToAnotherHost_doesNotShowTheToken() throws IOException {
    URI store = serve((exchange, number, from) -> send(exchange, from, 10));
    server.createContext(
        "/hub",
        exchange -> {
          tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
          exchange
              .getResponseHeaders()
              .add("Location", store.toString().replace("localhost", "127.0.0.1"));
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    download().fetch(URI.create("http://" + host() + "/hub"), file, promised());
    assertThat(tokens).containsExactly("Bearer secret", "");
    assertThat(file).hasBinaryContent(CONTENT);
  }
}
