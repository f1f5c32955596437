package io.troupe.environments.container;

import io.troupe.base.failure.Causes;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.ProcessIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program with docker's command line, each call a child process that ends at its deadline.
 *
 * <p>Containers carry a label of the host, and the identity of the process that owns them in their
 * names, so that the next process removes what an owner that was killed has left.
 */
public final class ContainerEngine {
  static final Duration SHORT = Duration.ofSeconds(60);
  private static final String LABEL = "io.troupe.box";
  private static final String PREFIX = "troupe-box-";
  private static final int MOST_OUTPUT = 1 << 20;
  private static final int TAIL = 2000;
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final Path program;

  /** An engine that is this program. */
  public ContainerEngine(Path program) {
    this.program = program;
  }

  /** Takes the output of a call. */
  interface Reading<T> {
    T read(InputStream output) throws IOException;
  }

  /** The end of a call: its exit code, its output, and the end of its errors. */
  record Ran<T>(int exit, T output, String errors) {}

  /** Starts a call that lasts; the owner ends it. */
  ProcessGroup start(List<String> arguments, boolean errorsInOutput) throws ContainerException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    try {
      return ProcessGroup.start(new ProcessBuilder(command).redirectErrorStream(errorsInOutput));
    } catch (IOException missing) {
      throw new ContainerException("%s cannot be started: %s".formatted(program, missing));
    }
  }

  /**
   * Makes a call and reads its output to the end.
   *
   * @throws ContainerException if the call does not end within the limit
   */
  <T> Ran<T> run(List<String> arguments, byte[] input, Duration limit, Reading<T> reading)
      throws IOException {
    try (ProcessGroup group = start(arguments, false)) {
      CompletableFuture<T> output = onThread(() -> reading.read(group.output()));
      CompletableFuture<String> errors = onThread(() -> tail(group.errors()));
      var _ = onThread(() -> feed(group.leader().getOutputStream(), input));
      long deadline = System.nanoTime() + limit.toNanos();
      T read = output.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      if (!group.leader().waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw new TimeoutException();
      }
      String said = errors.get(1, TimeUnit.SECONDS);
      return new Ran<>(group.leader().exitValue(), read, said);
    } catch (TimeoutException late) {
      throw new ContainerException(
          "%s %s did not end within %d s"
              .formatted(program, arguments.getFirst(), limit.toSeconds()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ContainerException("interrupted while %s ran".formatted(program));
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException broken) {
        throw broken;
      }
      throw new IllegalStateException(Causes.message(failed), failed);
    }
  }

  /**
   * Makes a call that must succeed, and returns its output.
   *
   * @throws ContainerException if it does not; has the end of what it wrote
   */
  String call(List<String> arguments, byte[] input, Duration limit) throws IOException {
    Ran<byte[]> ran = run(arguments, input, limit, ContainerEngine::bounded);
    String output = new String(ran.output(), StandardCharsets.UTF_8);
    if (ran.exit() != 0) {
      String said = (output + "\n" + ran.errors()).strip();
      throw new ContainerException(
          "%s %s ended with exit code %d: %s"
              .formatted(
                  program,
                  arguments.getFirst(),
                  ran.exit(),
                  said.substring(Math.max(0, said.length() - TAIL))));
    }
    return output;
  }

  String call(String... arguments) throws IOException {
    return call(List.of(arguments), new byte[0], SHORT);
  }

  /** Reads to the end, and keeps as much as a message may have. */
  static byte[] bounded(InputStream output) throws IOException {
    byte[] kept = output.readNBytes(MOST_OUTPUT);
    output.transferTo(OutputStream.nullOutputStream());
    return kept;
  }

  /** Removes the containers of processes of this host that run no more. */
  void removeOrphans() throws IOException {
    String filter = "label=%s=%s".formatted(LABEL, host());
    String names = call("ps", "--all", "--filter", filter, "--format", "{{.Names}}");
    for (String name : names.lines().map(String::strip).toList()) {
      String[] parts = name.split("-", -1);
      if (name.startsWith(PREFIX) && parts.length == 5 && !runs(parts[2], parts[3])) {
        call("rm", "--force", name);
      }
    }
  }

  private static boolean runs(String pid, String start) {
    return ProcessHandle.of(Long.parseLong(pid))
        .filter(ProcessIdentity::runs)
        .flatMap(ProcessIdentity::of)
        .filter(owner -> Long.toString(owner.start().toEpochMilli()).equals(start))
        .isPresent();
  }

  /** A name of a container of this process, which no other has. */
  static String newName() {
    ProcessHandle self = ProcessHandle.current();
    long start = ProcessIdentity.of(self).map(each -> each.start().toEpochMilli()).orElse(0L);
    return "%s%d-%d-%d".formatted(PREFIX, self.pid(), start, NUMBERS.incrementAndGet());
  }

  static List<String> label() throws IOException {
    return List.of("--label", LABEL + "=" + host());
  }

  /** The process ids of two hosts, or of two containers, that share an engine differ in meaning. */
  private static String host() throws IOException {
    String processes = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip()
        + "-"
        + processes.replaceAll("\\D", "");
  }

  private static boolean feed(OutputStream stream, byte[] input) {
    try (stream) {
      stream.write(input);
      return true;
    } catch (IOException ended) {
      return false; // its exit code says more
    }
  }

  private static String tail(InputStream errors) throws IOException {
    String said = new String(bounded(errors), StandardCharsets.UTF_8).strip();
    return said.substring(Math.max(0, said.length() - TAIL));
  }

  static <T> CompletableFuture<T> onThread(Callable<T> body) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("container-call")
        .start(
            () -> {
              try {
                result.complete(body.call());
              } catch (Exception failed) {
                result.completeExceptionally(
                    failed instanceof IOException ? failed : new CompletionException(failed));
              }
            });
    return result;
  }
}
