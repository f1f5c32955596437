package io.troupe.ranks;

import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.ranks.protocol.RankClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The place of a rank that the coordinator starts: its process, as long as it lives. */
final class LocalRank implements RankSlot {
  /** A process may load PyTorch and read a checkpoint first. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final Duration ENDING = Duration.ofSeconds(10);

  private final int rank;
  private final ChildSpec child;
  private final ChildProcesses children;
  private final IntFunction<CompletableFuture<RankClient>> reports;
  private final Consumer<String> say;
  private final CountDownLatch leaving = new CountDownLatch(1);
  private RestartBackoff restarts;
  private volatile Optional<RankClient> call = Optional.empty();
  private CompletableFuture<ChildProcesses.Exit> exit = CompletableFuture.completedFuture(NONE);

  private static final ChildProcesses.Exit NONE = new ChildProcesses.Exit(0, 0);

  /**
   * A place whose process starts when it is attended.
   *
   * @param reports awaits the report of a rank that is about to start
   * @param say takes a line when the process ends again and again
   */
  LocalRank(
      int rank,
      ChildSpec child,
      ChildProcesses children,
      IntFunction<CompletableFuture<RankClient>> reports,
      RestartBackoff.Settings policy,
      Consumer<String> say) {
    this.rank = rank;
    this.child = child;
    this.children = children;
    this.reports = reports;
    this.say = say;
    this.restarts = RestartBackoff.none(policy);
  }

  @Override
  public int number() {
    return rank;
  }

  @Override
  public RankClient call() throws IOException {
    return call.filter(RankClient::open).orElseThrow(() -> new IOException("it is gone"));
  }

  /**
   * Counts the end of a process, and waits until another may start: never too often, since the
   * cause may go away.
   *
   * @throws IOException if the trainer is stopped meanwhile
   */
  void awaitTurn() throws IOException {
    if (call.filter(RankClient::open).isPresent() && !exit.isDone()) {
      return;
    }
    disconnect();
    if (exit.isDone() && exit.join().equals(NONE)) {
      return;
    }
    children.kill(child.name());
    restarts = restarts.ended(System.nanoTime() / 1_000_000);
    if (restarts.persistent()) {
      say.accept(
          "%s ended %d times within %d minutes, and starts again in %d s; see %s"
              .formatted(
                  child.name(),
                  restarts.endings().size(),
                  restarts.policy().windowMillis() / 60_000,
                  restarts.pauseMillis() / 1_000,
                  child.log()));
    }
    try {
      var _ = leaving.await(restarts.pauseMillis(), TimeUnit.MILLISECONDS);
      var _ = exit.get(ENDING.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the trainer is stopped", stopped);
    } catch (ExecutionException | TimeoutException unsure) {
      throw new IOException("%s does not end".formatted(child.name()), unsure);
    }
  }

  /**
   * Starts the process if there is none, and waits until it reports.
   *
   * @return its pid if it was started, and 0 if it was there
   */
  long awaitReport() throws IOException {
    if (call.isPresent()) {
      return 0;
    }
    CompletableFuture<RankClient> reporting = reports.apply(rank);
    exit = children.start(child).toCompletableFuture();
    try {
      var _ =
          CompletableFuture.anyOf(reporting, exit).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (!reporting.isDone()) {
        throw new IOException("it did not report");
      }
      call = Optional.of(reporting.join());
      return children.pid(child.name());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the trainer is stopped", stopped);
    } catch (ExecutionException unstartable) {
      throw new IOException("it cannot be started: " + unstartable.getCause(), unstartable);
    } catch (TimeoutException absent) {
      end();
      throw new IOException("it did not report within " + PATIENCE, absent);
    }
  }

  @Override
  public String describeEnd(IOException seen) {
    if (seen instanceof RankClient.RankFailedException) {
      return String.valueOf(seen.getMessage());
    }
    try {
      ChildProcesses.Exit end = exit.get(ENDING.toMillis(), TimeUnit.MILLISECONDS);
      return "process %d ended with %d; its log is %s"
          .formatted(end.pid(), end.code(), child.log());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return String.valueOf(seen.getMessage());
    } catch (ExecutionException | TimeoutException running) {
      return String.valueOf(seen.getMessage());
    }
  }

  @Override
  public void end() {
    children.kill(child.name());
    disconnect();
  }

  /** The process ends by that. */
  @Override
  public void disconnect() {
    call.ifPresent(RankClient::close);
    call = Optional.empty();
  }
}
