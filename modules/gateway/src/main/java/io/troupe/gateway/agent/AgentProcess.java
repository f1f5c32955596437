package io.troupe.gateway.agent;

import io.troupe.base.process.ForeignProgram;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A process of an agent. It is given a task as a line of JSON on its standard input. Its end ends
 * the task; a process of several tasks ends each but the last with a line on its standard output.
 */
final class AgentProcess implements AutoCloseable {
  /** Bytes of a line that are kept; the content of a line does not matter. */
  private static final int LINE_BYTES = 2000;

  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  private final AtomicReference<CompletableFuture<Optional<Integer>>> task;
  private final ForeignProgram program;

  private AgentProcess(
      ForeignProgram program, AtomicReference<CompletableFuture<Optional<Integer>>> task) {
    this.program = program;
    this.task = task;
  }

  /**
   * Starts a process.
   *
   * @throws IOException if the program cannot be started
   */
  static AgentProcess start(List<String> command, Map<String, String> variables)
      throws IOException {
    var task = new AtomicReference<>(new CompletableFuture<Optional<Integer>>());
    ForeignProgram program =
        ForeignProgram.start(
            command, variables, LINE_BYTES, _ -> task.get().complete(Optional.empty()));
    var _ = program.exit().thenAccept(code -> task.get().complete(Optional.of(code)));
    return new AgentProcess(program, task);
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
    if (last || !program.isAlive()) {
      var _ = program.exit().thenAccept(code -> ended.complete(Optional.of(code)));
    }
    try {
      program.write(line);
      if (last) {
        program.endInput();
      }
    } catch (IOException notRead) {
      // An agent may take its task from its environment, or has ended.
    }
    return ended;
  }

  boolean isAlive() {
    return program.isAlive();
  }

  /** The last lines that it printed; waits until those of an exited process are read. */
  String lastOutput() {
    return program.lastOutput(LAST_OUTPUT);
  }

  /** Ends the process and everything that it has started. */
  @Override
  public void close() {
    program.close();
  }
}
