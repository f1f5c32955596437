package io.troupe.aws.container;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process of this program in a container: its output is the container's, which SageMaker keeps.
 */
final class ContainerProcess {
  private static final int LAST_LINES = 30;
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(5);

  private final ProcessGroup group;
  private final Deque<String> last = new ArrayDeque<>();
  private final Thread reader;

  private ContainerProcess(ProcessGroup group, String name, PrintStream out) {
    this.group = group;
    this.reader =
        Thread.ofPlatform()
            .daemon()
            .name("output-" + name)
            .start(
                () -> {
                  try (BufferedReader lines =
                      new BufferedReader(
                          new InputStreamReader(group.output(), StandardCharsets.UTF_8))) {
                    lines.lines().forEach(line -> took(line, name, out));
                  } catch (IOException closed) {
                    // A closed pipe is the end of the output, too.
                  }
                });
  }

  /**
   * Starts a process.
   *
   * @param name before each of its lines; empty for none
   */
  static ContainerProcess start(
      String name,
      List<String> arguments,
      Map<String, String> variables,
      Path folder,
      PrintStream out)
      throws IOException {
    List<String> command =
        new ArrayList<>(ChildJvm.command((int) (Runtime.getRuntime().maxMemory() >> 20)));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(ChildJvm.environment());
    builder.environment().putAll(variables);
    return new ContainerProcess(ProcessGroup.start(builder), name, out);
  }

  private void took(String line, String name, PrintStream out) {
    synchronized (last) {
      last.addLast(line);
      if (last.size() > LAST_LINES) {
        last.removeFirst();
      }
    }
    out.println(name.isEmpty() ? line : name + "  " + line);
  }

  /** Waits for the end. */
  int await() throws InterruptedException {
    int code = group.leader().waitFor();
    reader.join(LAST_OUTPUT.toMillis());
    return code;
  }

  /** Asks for an orderly end, and enforces an end after a time. */
  void end(Duration patience) throws InterruptedException {
    signal(Signals.SIGTERM);
    boolean _ = group.leader().waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    group.kill();
    int _ = await();
  }

  /** Sends a signal. */
  void signal(int number) {
    group.signal(number);
  }

  boolean isAlive() {
    return group.leader().isAlive();
  }

  /** The last line that begins with "error:", with what follows; else the last line. */
  String complaint() {
    synchronized (last) {
      List<String> lines = List.copyOf(last);
      for (int i = lines.size() - 1; i >= 0; i--) {
        if (lines.get(i).startsWith("error:")) {
          return String.join(" ", lines.subList(i, lines.size()));
        }
      }
      return lines.isEmpty() ? "it printed nothing" : lines.getLast();
    }
  }
}
