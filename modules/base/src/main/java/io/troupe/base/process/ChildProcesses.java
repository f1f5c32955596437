package io.troupe.base.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
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
 * The child processes of a node agent, each a {@link ProcessGroup}: no child outlives the agent,
 * and no descendant outlives its child. A child reads its standard input, through which the agent
 * asks it to finish its work.
 *
 * <p>One thread starts the children and sends to them, in the order of the calls.
 */
public final class ChildProcesses implements AutoCloseable {
  /** The line that asks a child to finish its work and to end. */
  public static final String DRAIN = "drain";

  /** The beginning of the line that names the coordinator to a trainer rank; HOST:PORT follows. */
  public static final String COORDINATOR = "coordinator ";

  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("children").daemon().factory());
  private final Map<String, ProcessGroup> running = new HashMap<>();
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
                    .ended()
                    .thenCombine(started.logged(), (ended, _) -> ended)
                    .thenApply(ended -> new Exit(ended.pid(), ended.exitValue())));
  }

  /** A process and the log of its output. */
  private record Started(ProcessGroup group, ChildLog log) {
    /** Completes when the child has ended; ends its descendants. */
    CompletionStage<Process> ended() {
      return group.leader().onExit().whenComplete((_, _) -> group.kill());
    }

    /** Completes when the log of an ended child is written, or after a limit. */
    CompletionStage<Long> logged() {
      return group
          .leader()
          .onExit()
          .thenCompose(
              _ ->
                  log.ended()
                      .toCompletableFuture()
                      .completeOnTimeout(0L, LAST_OUTPUT.toMillis(), TimeUnit.MILLISECONDS));
    }
  }

  private Started spawn(ChildSpec child) {
    ProcessBuilder builder =
        new ProcessBuilder(child.command())
            .directory(child.folder().toFile())
            .redirectErrorStream(true);
    builder.environment().putAll(child.environment());
    try {
      ProcessGroup group = ProcessGroup.start(builder);
      running.put(child.name(), group);
      if (ledger.isPresent()) {
        record(group, ledger.get());
      }
      return new Started(group, ChildLog.of(group, child.log()));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
    }
  }

  /**
   * Enters a child in the ledger. A child that cannot be entered is ended, because no later agent
   * could prove that it belongs to the node.
   */
  private static void record(ProcessGroup group, ChildLedger ledger) throws IOException {
    try {
      ledger.started(group.leader().toHandle());
    } catch (IOException unwritable) {
      group.kill();
      throw unwritable;
    }
    var _ =
        group
            .leader()
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
          ProcessGroup group = running.get(name);
          if (group == null || !group.leader().isAlive()) {
            return;
          }
          OutputStream input = group.leader().getOutputStream();
          try {
            input.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            input.flush();
          } catch (IOException closed) {
            group.leader().destroy(); // The child does not read any more.
          }
        });
  }

  /** Returns the pid of a child that was started; 0 if none was. */
  public long pid(String name) {
    return onStarterThread(
            () ->
                Optional.ofNullable(running.get(name))
                    .map(group -> group.leader().pid())
                    .orElse(0L))
        .toCompletableFuture()
        .join();
  }

  /** Ends a child now; a child that has ended is left alone. */
  public void kill(String name) {
    thread.execute(() -> Optional.ofNullable(running.get(name)).ifPresent(ProcessGroup::kill));
  }

  /** Ends a child now if it has this pid, and has not been started again since. */
  public void kill(String name, long pid) {
    thread.execute(
        () ->
            Optional.ofNullable(running.get(name))
                .filter(group -> group.leader().pid() == pid)
                .ifPresent(ProcessGroup::kill));
  }

  /** Ends all children now. */
  public void killAll() {
    try {
      thread.execute(() -> running.values().forEach(ProcessGroup::kill));
    } catch (RejectedExecutionException closed) {
      // The child has ended already.
    }
  }

  /** Ends all children, and returns when they have ended. */
  @Override
  public void close() {
    killAll();
    thread.close();
    running.values().forEach(group -> group.leader().onExit().join());
  }
}
