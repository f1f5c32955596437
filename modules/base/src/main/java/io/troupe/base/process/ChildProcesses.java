package io.troupe.base.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
 * The child processes of a node agent. They never outlive it, however it ends, for two reasons:
 * each reads its standard input, a pipe that closes with the agent, and where {@code setpriv} is
 * installed the kernel kills it at the death of the thread that started it.
 *
 * <p>That is why one thread starts all of them, and lives as long as the agent.
 */
public final class ChildProcesses implements AutoCloseable {
  /** What a child reads when it is to finish its work and to end. */
  public static final String DRAIN = "drain";

  /** Begins what a trainer rank reads when it is to report to a head; HOST:PORT follows. */
  public static final String COORDINATOR = "head ";

  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("children").daemon().factory());
  private final Map<String, Process> running = new HashMap<>();
  private final Optional<ChildLedger> ledger;

  /** Children that no ledger names. */
  public ChildProcesses() {
    this.ledger = Optional.empty();
  }

  /** Children that a ledger names as long as they live. */
  public ChildProcesses(ChildLedger ledger) {
    this.ledger = Optional.of(ledger);
  }

  /** Runs something that blocks on the thread of the children. */
  public <T> CompletionStage<T> onStarterThread(Supplier<T> job) {
    return CompletableFuture.supplyAsync(job, thread);
  }

  /** How a child ended. */
  public record Exit(long pid, int code) {}

  /**
   * Starts a child.
   *
   * @return how it ended, once it has; fails if it could not be started
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

  /** A process and the log of what it prints. */
  private record Started(Process process, ChildLog log) {
    /** A descendant may hold the pipe of one that has ended: it is not waited for. */
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
    List<String> command = new ArrayList<>();
    if (Files.isExecutable(SETPRIV)) {
      command.addAll(List.of(SETPRIV.toString(), "--pdeathsig", "KILL", "--"));
    }
    command.addAll(child.command());
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(child.folder().toFile()).redirectErrorStream(true);
    builder.environment().putAll(child.environment());
    try {
      Process process = builder.start();
      running.put(child.name(), process);
      if (ledger.isPresent()) {
        record(process, ledger.get());
      }
      return new Started(process, ChildLog.of(process, child.log()));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
    }
  }

  /** A child that cannot be entered is ended: nobody could tell later whose it was. */
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
                    // An entry of a process that has ended harms nobody: its start time tells.
                  }
                });
  }

  /** Asks a child to finish its work and to end; one that has ended is left alone. */
  public void drain(String name) {
    writeLine(name, DRAIN);
  }

  /** Tells a child something, in a line; one that has ended is left alone. */
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
            process.destroy(); // It does not read any more.
          }
        });
  }

  /** The process of a child that was started; 0 if none was. */
  public long pid(String name) {
    return onStarterThread(
            () -> Optional.ofNullable(running.get(name)).map(Process::pid).orElse(0L))
        .toCompletableFuture()
        .join();
  }

  /** Ends a child now; one that has ended is left alone. */
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
      // They are gone already.
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
