package io.troupe.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A child process that answers each line with a line of JSON. What it writes to standard error
 * passes through.
 */
final class LineProcess implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final String command;
  private final Process process;
  private final PrintWriter questions;
  private final BufferedReader answers;

  private LineProcess(List<String> command) throws IOException {
    this.command =
        String.join(" ", command.subList(Math.max(0, command.size() - 4), command.size()));
    this.process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    this.questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** A class with a {@code main}, run as the launcher runs the application. */
  static LineProcess java(Class<?> main, List<String> arguments) throws IOException {
    return new LineProcess(javaCommand(main, arguments));
  }

  /** The same with a heap of a fixed size, all of it resident from the start. */
  static LineProcess javaWithHeap(String heap, Class<?> main, List<String> arguments)
      throws IOException {
    List<String> command = javaCommand(main, arguments);
    // Of two settings the later one holds.
    command.addAll(
        command.indexOf("-cp"), List.of("-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch"));
    return new LineProcess(command);
  }

  /** One of many that share a machine: a small heap, and no threads that it can do without. */
  static LineProcess smallJava(String heap, Class<?> main, List<String> arguments)
      throws IOException {
    List<String> command = javaCommand(main, arguments);
    command.remove("-XX:+UseParallelGC");
    command.addAll(
        command.indexOf("-cp"),
        List.of("-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    return new LineProcess(command);
  }

  private static List<String> javaCommand(Class<?> main, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Xmx2g",
            "-XX:+UseParallelGC",
            "-Dai.djl.offline=true",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(arguments);
    return command;
  }

  /**
   * Runs a class to its end.
   *
   * @throws IOException if its exit code is not 0
   */
  static void runJava(Class<?> main, List<String> arguments) throws IOException {
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
  JsonNode ask(String line) throws IOException {
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
