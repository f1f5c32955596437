package io.troupe.base.process;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A program of a user as a child process: an agent, an environment, a server of tools. It sees a
 * few variables of this process's environment only, because others may hold secrets, and whatever
 * it has started ends with it. Its output is read by lines, of its errors the end is kept.
 */
public final class ForeignProgram implements AutoCloseable {
  private static final List<String> INHERITED =
      List.of("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR");
  private static final int TAIL = 2000;

  private final ProcessGroup group;
  private final CompletableFuture<Void> outputEnd = new CompletableFuture<>();
  private final CompletableFuture<Void> errorsEnd = new CompletableFuture<>();
  private final StringBuilder tail = new StringBuilder(); // guarded by itself

  private ForeignProgram(ProcessGroup group) {
    this.group = group;
  }

  /**
   * Starts a program.
   *
   * @param variables of its environment beside the few that every program has
   * @param mostLineBytes a longer line of its output is cut there
   * @param lines takes each line of its output, on a thread of the program
   * @throws IOException if the program cannot be started
   */
  public static ForeignProgram start(
      List<String> command,
      Map<String, String> variables,
      int mostLineBytes,
      Consumer<String> lines)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(INHERITED);
    environment.putAll(variables);
    ProcessGroup child = ProcessGroup.start(builder);
    ForeignProgram program = new ForeignProgram(child);
    thread(
        "program-errors",
        () -> {
          program.read(child.errors(), TAIL, _ -> {});
          program.errorsEnd.complete(null);
        });
    thread(
        "program-output",
        () -> {
          program.read(child.output(), mostLineBytes, lines);
          program.outputEnd.complete(null);
        });
    return program;
  }

  private static void thread(String name, Runnable body) {
    Thread.ofPlatform().daemon().name(name).start(body);
  }

  private void read(InputStream stream, int mostBytes, Consumer<String> lines) {
    try (InputStream in = new BufferedInputStream(stream)) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      int next = in.read();
      while (next >= 0) {
        if (next == '\n') {
          take(line, lines);
        } else if (line.size() < mostBytes) {
          line.write(next);
        }
        next = in.read();
      }
      if (line.size() > 0) {
        take(line, lines);
      }
    } catch (IOException closed) {
      // The end of the process is its end, too.
    }
  }

  private void take(ByteArrayOutputStream bytes, Consumer<String> lines) {
    String line = bytes.toString(StandardCharsets.UTF_8);
    bytes.reset();
    synchronized (tail) {
      tail.append(line, Math.max(0, line.length() - TAIL), line.length()).append('\n');
      tail.delete(0, Math.max(0, tail.length() - TAIL));
    }
    lines.accept(line);
  }

  /** Writes a line to its standard input; blocks while the program does not read. */
  public void write(String line) throws IOException {
    group.leader().getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    group.leader().getOutputStream().flush();
  }

  /** Ends its standard input. */
  public void endInput() throws IOException {
    group.leader().getOutputStream().close();
  }

  /** Completes with its exit code. */
  public CompletionStage<Integer> exit() {
    return group.leader().onExit().thenApply(Process::exitValue);
  }

  /** Completes when all of its output was taken, and no more can come. */
  public CompletionStage<Void> outputEnd() {
    return outputEnd;
  }

  /** Whether the program runs. */
  public boolean isAlive() {
    return group.leader().isAlive();
  }

  /**
   * Returns every process of the program that can be found now; the first is the program itself.
   */
  public Set<ProcessHandle> members() {
    return group.members();
  }

  /** Returns its process id. */
  public long pid() {
    return group.leader().pid();
  }

  /**
   * Returns the end of what it wrote, output and errors. What an exited program wrote is read
   * first; a descendant that keeps its output open is waited for this long at most.
   */
  public String lastOutput(Duration longest) {
    if (!isAlive()) {
      CompletableFuture.allOf(outputEnd, errorsEnd)
          .completeOnTimeout(null, longest.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    }
    return lastOutput();
  }

  /** Returns the end of what was read so far of what it wrote, output and errors. */
  public String lastOutput() {
    synchronized (tail) {
      return tail.toString().strip();
    }
  }

  /** Ends the program and everything that it has started. */
  @Override
  public void close() {
    group.kill();
  }
}
