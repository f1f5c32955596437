package io.troupe.net.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slow and many clients, over real sockets. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BoundedHttpServerTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final String GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  private final List<String> said = new CopyOnWriteArrayList<>();

  private BoundedHttpServer start(int requests, Duration head, Duration body, HttpHandler handler)
      throws IOException {
    BoundedHttpServer server =
        BoundedHttpServer.bind(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Optional.empty(),
            new BoundedHttpServer.Limits(requests, head, body, LONG),
            said::add);
    server.start(handler);
    return server;
  }

  private static void echo(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  private static Socket connect(BoundedHttpServer server) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.port());
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(US_ASCII));
    socket.getOutputStream().flush();
  }

  /** Returns the bytes before the server closes; a reset is a close, too. */
  private static String untilClosed(Socket socket) throws IOException {
    try {
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    } catch (SocketException reset) {
      return "";
    }
  }

  private static String statusLine(Socket socket) throws IOException {
    StringBuilder line = new StringBuilder();
    int next = socket.getInputStream().read();
    while (next >= 0 && next != '\r') {
      line.append((char) next);
      next = socket.getInputStream().read();
    }
    return line.toString();
  }

  @Test
  void request_inTime_isAnsweredAndTheNextOnTheConnectionToo() throws Exception {
    try (BoundedHttpServer server = start(4, LONG, LONG, BoundedHttpServerTest::echo);
        Socket socket = connect(server)) {
      write(socket, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
      assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 200 OK");
      write(
          socket,
          "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc");
      assertThat(untilClosed(socket)).contains("hello").endsWith("abc");
      assertThat(server.cut()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b"})
  void head_neverWhole_isCut(String beginning) throws Exception {
    try (BoundedHttpServer server = start(4, SHORT, LONG, BoundedHttpServerTest::echo);
        Socket socket = connect(server)) {
      write(socket, beginning);
      assertThat(untilClosed(socket)).isEmpty();
      assertThat(server.cut()).isEqualTo(1);
      assertThat(said).containsExactly("cut 1 requests whose peers were too slow");
    }
  }

  /** Each byte comes soon after the last, and there is no end of them. */
  @Test
  void head_byteAfterByte_isCut() throws Exception {
    try (BoundedHttpServer server = start(4, SHORT, LONG, BoundedHttpServerTest::echo);
        Socket socket = connect(server)) {
      write(socket, "GET / HTTP/1.1\r\nX: ");
      assertThat(dripUntilCut(server, socket)).isEqualTo(1);
    }
  }

  @Test
  void body_thatDoesNotCome_isCut() throws Exception {
    try (BoundedHttpServer server = start(4, LONG, SHORT, BoundedHttpServerTest::echo);
        Socket socket = connect(server)) {
      write(socket, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
      assertThat(untilClosed(socket)).isEmpty();
      assertThat(server.cut()).isEqualTo(1);
    }
  }

  @Test
  void body_byteAfterByte_isCut() throws Exception {
    try (BoundedHttpServer server = start(4, LONG, SHORT, BoundedHttpServerTest::echo);
        Socket socket = connect(server)) {
      write(socket, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n");
      assertThat(dripUntilCut(server, socket)).isEqualTo(1);
    }
  }

  private static long dripUntilCut(BoundedHttpServer server, Socket socket) throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try {
      while (server.cut() == 0) {
        write(socket, "a");
        boolean _ = never.await(1, TimeUnit.MILLISECONDS); // or a head would be too long
      }
    } catch (IOException closed) {
      return server.cut();
    }
    return server.cut();
  }

  @Test
  void answer_thatNobodyReads_isCut() throws Exception {
    try (BoundedHttpServer server =
        BoundedHttpServer.bind(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Optional.empty(),
            new BoundedHttpServer.Limits(4, LONG, LONG, SHORT),
            said::add)) {
      CountDownLatch ended = new CountDownLatch(1);
      server.start(
          exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try {
              while (true) {
                exchange.getResponseBody().write(new byte[1 << 16]);
              }
            } finally {
              ended.countDown();
            }
          });
      try (Socket socket = connect(server)) {
        write(socket, GET);
        ended.await();
        assertThat(server.cut()).isEqualTo(1);
      }
    }
  }

  /** A handler may take its time: no limit is on it. */
  @Test
  void handler_longerThanAllLimits_isNotCut() throws Exception {
    CountDownLatch looked = new CountDownLatch(1);
    try (BoundedHttpServer server =
        BoundedHttpServer.bind(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Optional.empty(),
            new BoundedHttpServer.Limits(4, SHORT, SHORT, SHORT),
            message -> looked.countDown())) {
      server.start(
          exchange -> {
            try {
              looked.await(); // another request was cut, so the limits are over
            } catch (InterruptedException cut) {
              throw new IOException(cut);
            }
            exchange.sendResponseHeaders(204, -1);
          });
      try (Socket patient = connect(server);
          Socket slow = connect(server)) {
        write(patient, GET);
        write(slow, "GET");
        assertThat(statusLine(patient)).isEqualTo("HTTP/1.1 204 No Content");
      }
    }
  }

  @Test
  void requests_moreThanThereIsRoomFor_areClosedAndSaidOnceEachWay() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    try (BoundedHttpServer server =
        start(
            2,
            LONG,
            LONG,
            exchange -> {
              begun.add("one");
              try {
                release.await();
              } catch (InterruptedException closing) {
                throw new IOException(closing);
              }
              exchange.getResponseHeaders().set("Connection", "close");
              exchange.sendResponseHeaders(204, -1);
            })) {
      try (Socket first = connect(server);
          Socket second = connect(server)) {
        write(first, GET);
        write(second, GET);
        begun.take();
        begun.take();
        for (int i = 0; i < 3; i++) {
          try (Socket further = connect(server)) {
            write(further, GET);
            assertThat(untilClosed(further)).isEmpty();
          }
        }
        assertThat(server.refused()).isEqualTo(3);
        assertThat(said)
            .containsExactly("full: 2 requests are being answered, further connections are closed");
        release.countDown();
        assertThat(untilClosed(first)).startsWith("HTTP/1.1 204");
        assertThat(untilClosed(second)).startsWith("HTTP/1.1 204");
      }
      try (Socket later = connect(server)) {
        write(later, GET);
        assertThat(untilClosed(later)).startsWith("HTTP/1.1 204");
      }
      while (said.size() < 2) {
        Thread.onSpinWait();
      }
      assertThat(said).hasSize(2).last().isEqualTo("has room again, refused=3 so far");
    }
  }
}
