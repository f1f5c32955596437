package io.troupe.run.cluster;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The node agent of a run on one host: the coordinator starts it, starts it again when it ends, and
 * ends it with the run. It never outlives the coordinator, because its standard input is a pipe
 * from there.
 */
public final class LocalNodeAgent implements AutoCloseable {
  /** The agent's name in the cluster. */
  public static final String NAME = "local";

  private static final int HEAP_MEBIBYTES = 256;

  /** For the leases in flight and the processes of the node. */
  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final Path folder;
  private final String gpus;
  private final Consumer<String> say;
  private final ChildProcesses children = new ChildProcesses();
  private final Object lock = new Object();
  private RestartBackoff backoff = RestartBackoff.none(RestartBackoff.Settings.DEFAULT);
  private @Nullable CompletableFuture<ChildProcesses.Exit> running;
  private boolean closing;

  /**
   * An agent that is not started yet.
   *
   * @param run folder of the run, which gets the agent's log and the data of the node
   * @param gpus {@code --gpus} of the agent
   * @param say takes lines for the operator
   */
  public LocalNodeAgent(Path run, String gpus, Consumer<String> say) {
    this.folder = run.toAbsolutePath().normalize();
    this.gpus = gpus;
    this.say = say;
  }

  /**
   * Starts it.
   *
   * @param network options by which it finds the coordinator
   */
  public void start(List<String> network) throws IOException {
    Path log = Files.createDirectories(folder.resolve("cluster")).resolve("node.log");
    List<String> command = new ArrayList<>(ChildJvm.command(HEAP_MEBIBYTES));
    command.addAll(List.of("node", "--with-parent", "--name", NAME, "--gpus", gpus));
    command.addAll(List.of("--data", folder.resolve("node-data").toString()));
    command.addAll(network);
    // Relative paths in the configuration are relative to where the coordinator was started.
    launch(new ChildSpec(NAME, command, ChildJvm.environment(), Path.of("").toAbsolutePath(), log));
    say.accept("node    %s on --gpus %s (log: %s)".formatted(NAME, gpus, log));
  }

  private void launch(ChildSpec agent) {
    synchronized (lock) {
      if (closing) {
        return;
      }
      running = children.start(agent).toCompletableFuture();
      var _ = running.whenComplete((exit, failure) -> ended(agent, exit, failure));
    }
  }

  private void ended(
      ChildSpec agent, ChildProcesses.@Nullable Exit exit, @Nullable Throwable failure) {
    synchronized (lock) {
      if (closing) {
        return;
      }
      backoff = backoff.ended(System.nanoTime() / 1_000_000);
      long pause = backoff.pauseMillis();
      say.accept(
          "the node agent of this host ended%s; it is started again in %d ms (log: %s)"
              .formatted(
                  exit == null ? ": " + failure : " with code " + exit.code(), pause, agent.log()));
      var _ =
          CompletableFuture.runAsync(
              () -> launch(agent), CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS));
    }
  }

  /** Lets it finish its work, ends it, and returns when it has ended. */
  @Override
  public void close() {
    CompletableFuture<ChildProcesses.Exit> last;
    synchronized (lock) {
      closing = true;
      last = running;
    }
    if (last != null) {
      children.drain(NAME);
      try {
        last.get(DRAIN.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException | ExecutionException unfinished) {
        say.accept("the node agent of this host does not end by itself, and is killed");
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    children.close();
  }
}
