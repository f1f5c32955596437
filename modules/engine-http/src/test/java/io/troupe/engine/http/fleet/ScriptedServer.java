package io.troupe.engine.http.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server that answers each request by a script, over bare sockets. */
public final class ScriptedServer implements AutoCloseable {
  /** An action after a request is read. */
  @FunctionalInterface
  public interface Script {
    void answer(Socket socket, OutputStream out) throws IOException, InterruptedException;
  }

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<String> requests = new CopyOnWriteArrayList<>();

  public ScriptedServer(Script script) throws IOException {
    var _ = Thread.ofVirtual().start(() -> accept(script));
  }

  private void accept(Script script) {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        var _ = Thread.ofVirtual().start(() -> serve(socket, script));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket, Script script) {
    try (socket) {
      requests.add(read(socket.getInputStream()));
      script.answer(socket, socket.getOutputStream());
    } catch (IOException | InterruptedException gone) {
      return;
    }
  }

  /** Head and body of one request. */
  private static String read(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) {
        return text.toString();
      }
      text.append((char) next);
    }
    int length = 0;
    for (String line : text.toString().split("\r\n", -1)) {
      if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
        length = Integer.parseInt(line.substring(15).strip());
      }
    }
    return text + new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  public List<String> requests() {
    return requests;
  }

  public String base() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
