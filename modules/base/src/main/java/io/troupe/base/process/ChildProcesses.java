package io.troupe.base.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The child processes of a node agent. No child outlives the agent, however the agent ends, for two
 * reasons: each child reads its standard input, a pipe that closes with the agent, and where {@code
 * setpriv} is installed, the kernel kills a child at the death of the thread that started it.
 *
 * <p>That is why one thread starts all of them, and lives as long as the agent.
 */
public final class ChildProcesses implements AutoCloseable {
  /** The line that asks a child to finish its work and to end. */
  public static final String DRAIN = "drain";

  /** The beginning of the line that names the coordinator to a trainer rank; HOST:PORT follows. */
  public static final String COORDINATOR = "head ";

  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("children").daemon().factory());
  private final Map<String, Process> running = new HashMap<>();
  private final Optional<ChildLedger> ledger;

  /** Creates children without a ledger. */
  public ChildProcesses() {
    this.ledger = Optional.empty();
  }

  /** Creates children that a ledger names while they run. */
  public ChildProcesses(ChildLedger ledger) {
    this.ledger = Optional.of(ledger);
  }

  /** Runs a blocking job on the thread that starts the children. */
  public <T> CompletionStage<T> onStarterThread(Supplier<T> job) {
    return CompletableFuture.supplyAsync(job, thread);
  }

  /** The end of a child. */
  public record Exit(long pid, int code) {}

  /**
   * Starts a child.
   *
   * @return completes with the exit when the child has ended; fails if the child could not be
   *     started
   */
  public CompletionStage<Exit> start(ChildSpec child) {
    return onStarterThread(() -> spawn(child))
        .thenCompose(
            started ->
                started
                    .process
                    .onExit()
                    .thenCombine(started.logged(), (ended, _) -> ended)
                    .thenApply(ended -> new Exit(ended.pid(), ended.exitValue())));
  }

  /** A process and the log of its output. */
  private record Started(Process process, ChildLog log) {
    /**
     * Completes when the log of an ended child is written, or after a limit: a descendant may hold
     * the pipe, and nothing waits for the descendant.
     */
    CompletionStage<Long> logged() {
      return process
          .onExit()
          .thenCompose(
              _ ->
                  log.ended()
                      .toCompletableFuture()
                      .completeOnTimeout(0L, LAST_OUTPUT.toMillis(), TimeUnit.MILLISECONDS));
    }
  }

  private Started spawn(ChildSpec child) {
    List<String> command = ParentDeath.endsToo(child.command());
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(child.folder().toFile()).redirectErrorStream(true);
    builder.environment().putAll(child.environment());
    try {
      PipedChild piped = PipedChild.start(builder);
      Process process = piped.process();
      running.put(child.name(), process);
      if (ledger.isPresent()) {
        record(process, ledger.get());
      }
      return new Started(process, ChildLog.of(piped, child.log()));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
    }
  }

  /**
   * Enters a child in the ledger. A child that cannot be entered is ended, because no later agent
   * could prove that it belongs to the node.
   */
  private static void record(Process process, ChildLedger ledger) throws IOException {
    try {
      ledger.started(process.toHandle());
    } catch (IOException unwritable) {
      process.destroyForcibly();
      throw unwritable;
    }
    var _ =
        process
            .onExit()
            .thenAccept(
                ended -> {
                  try {
                    ledger.ended(ended.pid());
                  } catch (IOException stale) {
                    // An entry of an ended process does no harm, because its start time identifies
                    // it.
                  }
                });
  }

  /** Asks a child to finish its work and to end; a child that has ended is left alone. */
  public void drain(String name) {
    writeLine(name, DRAIN);
  }

  /** Sends a child a line; a child that has ended is left alone. */
  public void writeLine(String name, String line) {
    thread.execute(
        () -> {
          Process process = running.get(name);
          if (process == null || !process.isAlive()) {
            return;
          }
          try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            process.getOutputStream().flush();
          } catch (IOException closed) {
            process.destroy(); // The child does not read any more.
          }
        });
  }

  /** Returns the pid of a child that was started; 0 if none was. */
  public long pid(String name) {
    return onStarterThread(
            () -> Optional.ofNullable(running.get(name)).map(Process::pid).orElse(0L))
        .toCompletableFuture()
        .join();
  }

  /** Ends a child now; a child that has ended is left alone. */
  public void kill(String name) {
    thread.execute(
        () -> Optional.ofNullable(running.get(name)).ifPresent(Process::destroyForcibly));
  }

  /** Ends a child now if it has this pid, and has not been started again since. */
  public void kill(String name, long pid) {
    thread.execute(
        () ->
            Optional.ofNullable(running.get(name))
                .filter(process -> process.pid() == pid)
                .ifPresent(Process::destroyForcibly));
  }

  /** Ends all children now. */
  public void killAll() {
    try {
      thread.execute(() -> running.values().forEach(Process::destroyForcibly));
    } catch (RejectedExecutionException closed) {
      // The child has ended already.
    }
  }

  /** Ends all children, and returns when they have ended. */
  @Override
  public void close() {
    killAll();
    thread.close();
    running.values().forEach(process -> process.onExit().join());
  }
}
