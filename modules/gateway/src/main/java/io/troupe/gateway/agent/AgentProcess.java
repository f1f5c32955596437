package io.troupe.gateway.agent;

import io.troupe.base.process.ParentDeath;
import io.troupe.base.process.PipedChild;
import io.troupe.base.process.ProcessMark;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A process of an agent. It is given a task as a line of JSON on its standard input. Its end ends
 * the task; a process of several tasks ends each but the last with a line on its standard output.
 *
 * <p>The process sees a few variables of this process's environment only, because others may hold
 * secrets. Whatever it has started ends with it.
 */
final class AgentProcess implements AutoCloseable {
  private static final List<String> INHERITED =
      List.of("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR");
  private static final int TAIL = 2000;

  private final Process process;
  private final ProcessMark mark;
  private final AtomicReference<CompletableFuture<Optional<Integer>>> task =
      new AtomicReference<>(new CompletableFuture<>());
  private final StringBuilder tail = new StringBuilder(); // guarded by itself

  private AgentProcess(Process process, ProcessMark mark) {
    this.process = process;
    this.mark = mark;
  }

  /**
   * Starts a process, which ends with the calling thread at the latest.
   *
   * @throws IOException if the program cannot be started
   */
  static AgentProcess start(List<String> command, Map<String, String> variables)
      throws IOException {
    ProcessMark mark = ProcessMark.create();
    ProcessBuilder builder = new ProcessBuilder(ParentDeath.endsToo(command));
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(INHERITED);
    environment.putAll(variables);
    PipedChild child = PipedChild.start(mark.put(builder));
    Process process = child.process();
    AgentProcess agent = new AgentProcess(process, mark);
    thread("agent-errors", () -> agent.read(child.errors(), false));
    thread("agent-output", () -> agent.read(child.output(), true));
    var _ = process.onExit().thenAccept(ended -> agent.complete(Optional.of(ended.exitValue())));
    return agent;
  }

  private static void thread(String name, Runnable body) {
    Thread.ofPlatform().daemon().name(name).start(body);
  }

  private void read(InputStream stream, boolean output) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        synchronized (tail) {
          tail.append(line).append('\n');
          tail.delete(0, Math.max(0, tail.length() - TAIL));
        }
        if (output) {
          complete(Optional.empty());
        }
      }
    } catch (IOException closed) {
      // The end of the process is its end, too.
    }
  }

  private void complete(Optional<Integer> exit) {
    task.get().complete(exit);
  }

  /**
   * Gives the process a task.
   *
   * @param line of JSON
   * @param last whether the process gets no other; then only its exit ends the task
   * @return completes with the exit code; empty where the process waits for its next task
   */
  CompletionStage<Optional<Integer>> begin(String line, boolean last) {
    CompletableFuture<Optional<Integer>> ended = new CompletableFuture<>();
    task.set(last ? new CompletableFuture<>() : ended);
    if (last) {
      var _ = process.onExit().thenAccept(exit -> ended.complete(Optional.of(exit.exitValue())));
    } else if (!process.isAlive()) {
      ended.complete(Optional.of(process.exitValue()));
    }
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      if (last) {
        process.getOutputStream().close();
      }
    } catch (IOException notRead) {
      // An agent may take its task from its environment, or has ended.
    }
    return ended;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** The last lines that it printed. */
  String lastOutput() {
    synchronized (tail) {
      return tail.toString().strip();
    }
  }

  /** Ends the process and everything that it has started. */
  @Override
  public void close() {
    process.destroyForcibly();
    mark.kill();
  }
}
