package io.troupe.engine.http.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A real llama-server, with a tiny model of random weights. */
public final class LlamaServer implements AutoCloseable {
  private final Process process;
  private final Path model;
  private final int port;

  private LlamaServer(Process process, Path model, int port) {
    this.process = process;
    this.model = model;
    this.port = port;
  }

  /** Starts a program and waits until it listens. */
  public static LlamaServer start(String program) throws IOException {
    Path model = Files.createTempFile("tiny", ".gguf");
    TinyGguf.write(model, 1);
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    List<String> command = new ArrayList<>(List.of(program, "--model", model.toString()));
    command.addAll(List.of("--host", "127.0.0.1", "--port", Integer.toString(port)));
    command.addAll(List.of("--threads", "1", "--parallel", "4", "--metrics"));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    LlamaServer server = new LlamaServer(process, model, port);
    server.awaitListening();
    return server;
  }

  private void awaitListening() throws IOException {
    BufferedReader log = process.inputReader();
    StringBuilder said = new StringBuilder();
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      said.append(line).append('\n');
      if (line.contains("listening on http")) {
        Thread.ofPlatform().daemon().start(() -> drain(log));
        return;
      }
    }
    throw new IOException("llama-server ended before it listened:\n" + said);
  }

  private static void drain(BufferedReader log) {
    try {
      while (log.readLine() != null) {
        // A full pipe would stop it.
      }
    } catch (IOException closed) {
      // It has ended.
    }
  }

  public String base() {
    return "http://127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
    try {
      Files.delete(model);
    } catch (IOException disk) {
      throw new UncheckedIOException(disk);
    }
  }
}
