package io.troupe.engine.http.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Passes connections on, and can close one just as the next request is written on it. */
final class ImpatientProxy implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;
  private final AtomicBoolean armed = new AtomicBoolean();
  private final AtomicInteger closings = new AtomicInteger();

  ImpatientProxy(int target) throws IOException {
    this.target = target;
    var _ = Thread.ofVirtual().start(this::accept);
  }

  String base() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  /** The next request that samples a stream meets a connection that closes. */
  void closeUnderTheNextSample() {
    armed.set(true);
  }

  /** Returns the number of connections that were closed. */
  int closings() {
    return closings.get();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        var _ = Thread.ofVirtual().start(() -> pump(client, server, true));
        var _ = Thread.ofVirtual().start(() -> pump(server, client, false));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void pump(Socket from, Socket to, boolean requests) {
    byte[] buffer = new byte[1 << 16];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        boolean samples =
            new String(buffer, 0, read, StandardCharsets.ISO_8859_1)
                .startsWith("POST /v1/completions");
        if (requests && samples && armed.compareAndSet(true, false)) {
          closings.incrementAndGet();
          return;
        }
        out.write(buffer, 0, read);
      }
    } catch (IOException gone) {
      return;
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
