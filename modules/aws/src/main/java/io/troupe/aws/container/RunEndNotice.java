package io.troupe.aws.container;

import io.troupe.base.net.HostPort;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The notice to the other hosts of a job that the run has ended: the first host holds a connection
 * to each and sends its exit code. A job fails when any container fails, so that the others must
 * end after the first one, and with 0.
 */
final class RunEndNotice implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final ServerSocket server;
  private final List<Socket> hosts = new CopyOnWriteArrayList<>();

  private RunEndNotice(ServerSocket server) {
    this.server = server;
  }

  /** Listens on the first host. */
  static RunEndNotice listen(HostPort address) throws IOException {
    ServerSocket server = new ServerSocket();
    server.setReuseAddress(true);
    server.bind(new InetSocketAddress(address.host(), address.port()));
    RunEndNotice notice = new RunEndNotice(server);
    Thread.ofPlatform().daemon().name("hosts-of-the-job").start(notice::accept);
    return notice;
  }

  int connected() {
    return hosts.size();
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        hosts.add(server.accept());
      }
    } catch (IOException closed) {
      // The run has ended.
    }
  }

  /** Notifies every host. */
  void send(int code) {
    for (Socket host : hosts) {
      try {
        host.getOutputStream().write((code + "\n").getBytes(StandardCharsets.US_ASCII));
        host.getOutputStream().flush();
      } catch (IOException gone) {
        // The host has ended already.
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket host : hosts) {
      host.close();
    }
  }

  /**
   * Waits for the end of the run, on another host.
   *
   * @param patience without the first host, at the beginning and later
   * @return the first host's exit code; nothing if that host is gone
   */
  static OptionalInt await(HostPort address, Duration patience) throws InterruptedException {
    long giveUpAt = System.nanoTime() + patience.toNanos();
    while (System.nanoTime() < giveUpAt) {
      try (Socket socket = new Socket()) {
        socket.connect(
            new InetSocketAddress(address.host(), address.port()),
            Math.toIntExact(CONNECT.toMillis()));
        socket.setKeepAlive(true);
        giveUpAt = System.nanoTime() + patience.toNanos();
        String line =
            new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                .readLine();
        if (line != null) {
          return OptionalInt.of(Integer.parseInt(line));
        }
      } catch (IOException absent) {
        // The first host is not there yet, or the connection was cut: the next round tries again.
      }
      Thread.sleep(PAUSE);
    }
    return OptionalInt.empty();
  }
}
