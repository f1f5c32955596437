package io.troupe.benchmarks.harness;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.process.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * A child process that answers each line with a line of JSON. What it writes to standard error
 * passes through.
 */
public final class WorkerProcess implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final String command;
  private final Process process;
  private final PrintWriter questions;
  private final BufferedReader answers;

  private WorkerProcess(List<String> command) throws IOException {
    this.command =
        String.join(" ", command.subList(Math.max(0, command.size() - 4), command.size()));
    this.process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    this.questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** A class with a {@code main}, run as the launcher runs the application. */
  public static WorkerProcess java(Class<?> main, List<String> arguments) throws IOException {
    return new WorkerProcess(javaCommand(main, arguments));
  }

  /** Starts a Java process with a heap of a fixed size, all of it resident from the start. */
  public static WorkerProcess javaWithHeap(String heap, Class<?> main, List<String> arguments)
      throws IOException {
    return new WorkerProcess(
        java(main)
            .with("-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch", "-XX:+UseParallelGC")
            .wordsWithClassPath(arguments));
  }

  /**
   * Starts one of many processes that share a machine: a small heap, and no threads beyond the
   * necessary.
   */
  public static WorkerProcess smallJava(String heap, Class<?> main, List<String> arguments)
      throws IOException {
    return new WorkerProcess(
        java(main)
            .with("-Xmx" + heap, JavaCommand.SERIAL_COLLECTOR, "-XX:TieredStopAtLevel=1")
            .wordsWithClassPath(arguments));
  }

  /** Starts a Java process behind words of another command, such as one that enters a namespace. */
  public static WorkerProcess java(List<String> before, Class<?> main, List<String> arguments)
      throws IOException {
    return new WorkerProcess(
        Stream.concat(before.stream(), javaCommand(main, arguments).stream()).toList());
  }

  private static List<String> javaCommand(Class<?> main, List<String> arguments) {
    return java(main).with("-Xmx2g", "-XX:+UseParallelGC").wordsWithClassPath(arguments);
  }

  private static JavaCommand java(Class<?> main) {
    return JavaCommand.of(main).with(JavaCommand.BASIC).with("-Dai.djl.offline=true");
  }

  /**
   * Runs a class to its end.
   *
   * @throws IOException if its exit code is not 0
   */
  public static void runJava(Class<?> main, List<String> arguments) throws IOException {
    Process process = new ProcessBuilder(javaCommand(main, arguments)).inheritIO().start();
    try {
      int exit = process.waitFor();
      if (exit != 0) {
        throw new IOException("%s ended with exit code %d".formatted(main.getSimpleName(), exit));
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + main.getSimpleName() + " ran", interrupted);
    }
  }

  /**
   * The answer to a line.
   *
   * @throws IOException if the process has ended
   */
  public JsonNode ask(String line) throws IOException {
    questions.println(line);
    return read();
  }

  private JsonNode read() throws IOException {
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException(
          "the process '%s' ended without an answer; its messages are on standard error"
              .formatted(command));
    }
    return JSON.readTree(answer);
  }

  /** Kills the process, as the kernel does when memory runs out. */
  public void kill() {
    process.destroyForcibly();
  }

  /** Lets the process end, which it does when its input does. */
  @Override
  public void close() {
    questions.close();
    try {
      process.waitFor();
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
