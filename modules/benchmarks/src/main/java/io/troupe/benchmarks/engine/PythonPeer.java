package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The PyTorch side of a comparison, {@code modules/benchmarks/src/main/python}, or its absence. */
public sealed interface PythonPeer extends AutoCloseable {
  /**
   * Calls a method of the Python side and waits for its answer.
   *
   * @throws IOException if it ended; its messages are on standard error
   */
  JsonNode call(String method, Map<String, ?> arguments) throws IOException;

  /** Whether there is one to call. */
  boolean present();

  /**
   * A new process of the same kind, whose peak of memory is its own; none where there is none.
   *
   * @throws IOException if it does not start
   */
  PythonPeer another() throws IOException;

  /** Returns one line: versions and threads, or the reason why there is no PyTorch. */
  String describe();

  @Override
  void close();

  /** Starts the Python side, if that interpreter has PyTorch. */
  static PythonPeer start(String python, int threads) throws IOException, InterruptedException {
    Process probe;
    try {
      probe =
          new ProcessBuilder(python, "-c", "import torch; print(torch.__version__)")
              .redirectErrorStream(true)
              .start();
    } catch (IOException missing) {
      return new Absent("there is no Python interpreter '%s'".formatted(python));
    }
    String last = probe.inputReader().lines().reduce("", (_, line) -> line);
    if (probe.waitFor() != 0) {
      return new Absent(
          "'%s -c \"import torch\"' fails: %s; for a comparison, python3 -m venv DIR && DIR/bin/pip"
                  .formatted(python, last)
              + " install torch, then --python DIR/bin/python");
    }
    return new Running(python, threads);
  }

  /** No PyTorch was found. */
  record Absent(String reason) implements PythonPeer {
    @Override
    public JsonNode call(String method, Map<String, ?> arguments) {
      throw new IllegalStateException(reason);
    }

    @Override
    public boolean present() {
      return false;
    }

    @Override
    public PythonPeer another() {
      return this;
    }

    @Override
    public String describe() {
      return "PyTorch for Python: none, ours runs alone; " + reason;
    }

    @Override
    public void close() {}
  }

  /** A process that answers. */
  final class Running implements PythonPeer {
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static final long GRACE_SECONDS = 5;

    private final String python;
    private final int threads;
    private final Process process;
    private final BufferedWriter requests;
    private final BufferedReader answers;
    private final String description;

    private Running(String python, int threads) throws IOException {
      this.python = python;
      this.threads = threads;
      Path home = Path.of(System.getProperty("troupe.home", "."));
      Path script = home.resolve("modules/benchmarks/src/main/python/serve.py");
      this.process =
          new ProcessBuilder(python, "-B", script.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      this.requests = process.outputWriter();
      this.answers = process.inputReader();
      JsonNode hello = call("hello", Map.of("threads", threads));
      this.description =
          "PyTorch %s for Python, %d threads"
              .formatted(hello.required("torch").asText(), hello.required("threads").asInt());
    }

    @Override
    public JsonNode call(String method, Map<String, ?> arguments) throws IOException {
      Map<String, Object> request = new LinkedHashMap<>(arguments);
      request.put("do", method);
      requests.write(JSON.writeValueAsString(request));
      requests.newLine();
      requests.flush();
      String answer = answers.readLine();
      if (answer == null) {
        throw new IOException("the Python side ended in '%s'".formatted(method));
      }
      return JSON.readTree(answer);
    }

    @Override
    public boolean present() {
      return true;
    }

    @Override
    public PythonPeer another() throws IOException {
      return new Running(python, threads);
    }

    @Override
    public String describe() {
      return description;
    }

    @Override
    public void close() {
      try {
        requests.close();
        if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (IOException ended) {
        process.destroyForcibly();
      } catch (InterruptedException interrupted) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
