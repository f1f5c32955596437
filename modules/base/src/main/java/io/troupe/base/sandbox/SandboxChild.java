package io.troupe.base.sandbox;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The first process of a sandbox, and the frames to and from it: four bytes of length, then the
 * bytes. The owner bounds every exchange by closing it at a deadline; reads then end.
 */
public final class SandboxChild implements AutoCloseable {
  private static final int MOST_ERROR_BYTES = 4_000;

  private final Process process;
  private final DataOutputStream input;
  private final DataInputStream output;

  private SandboxChild(Process process) {
    this.process = process;
    this.input = new DataOutputStream(process.getOutputStream());
    this.output = new DataInputStream(process.getInputStream());
  }

  /**
   * Starts a process. The calling thread must live as long as the sandbox: Linux kills the sandbox
   * when the thread that started it ends, not when the Java process ends.
   *
   * @param command as {@link SandboxCommand} makes it
   * @param namespaces whether bubblewrap makes the environment; otherwise it is emptied here
   */
  public static SandboxChild start(List<String> command, boolean namespaces) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    if (!namespaces) {
      builder.environment().clear();
      builder.environment().putAll(Map.of("PYTHONHASHSEED", "0", "PATH", "/usr/bin:/bin"));
    }
    return new SandboxChild(builder.start());
  }

  /** Writes a frame, which {@link #flush} sends. */
  public void write(byte[] frame) throws IOException {
    input.writeInt(frame.length);
    input.write(frame);
  }

  /** Sends what was written. */
  public void flush() throws IOException {
    input.flush();
  }

  /**
   * Reads a frame.
   *
   * @throws IOException if the process ends, or the frame is longer than allowed
   */
  public byte[] read(int mostBytes) throws IOException {
    int length = output.readInt();
    if (length < 0 || length > mostBytes) {
      throw new IOException("a reply of %d bytes".formatted(length));
    }
    return output.readNBytes(length);
  }

  /** Whether the process runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Returns its process id. */
  public long pid() {
    return process.pid();
  }

  /** Returns what an ending process wrote to its standard error; waits at most 5 s for its end. */
  public String errorTail() {
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        return "it cannot be killed";
      }
      String words =
          new String(process.getErrorStream().readNBytes(MOST_ERROR_BYTES), StandardCharsets.UTF_8);
      return words.isBlank() ? "exit status " + process.exitValue() : words.strip();
    } catch (IOException e) {
      return "exit status " + process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  /** Kills the process and every process in the sandbox. */
  @Override
  public void close() {
    process.destroyForcibly();
  }
}
