package io.troupe.cluster.ranks;

import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.Children;
import io.troupe.core.restart.Restarts;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;

/** The place of a rank that the head starts: its process, as long as it lives. */
final class ChildSeat implements RankSeat {
  /** A process may load PyTorch and read a checkpoint first. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final Duration ENDING = Duration.ofSeconds(10);

  private final int rank;
  private final ChildSpec child;
  private final Children children;
  private final IntFunction<CompletableFuture<RankCall>> reports;
  private final CountDownLatch leaving = new CountDownLatch(1);
  private Restarts restarts;
  private volatile Optional<RankCall> call = Optional.empty();
  private CompletableFuture<Children.Exit> exit = CompletableFuture.completedFuture(NONE);

  private static final Children.Exit NONE = new Children.Exit(0, 0);

  /**
   * A place whose process starts when it is attended.
   *
   * @param reports awaits the report of a rank that is about to start
   */
  ChildSeat(
      int rank,
      ChildSpec child,
      Children children,
      IntFunction<CompletableFuture<RankCall>> reports,
      Restarts.Policy policy) {
    this.rank = rank;
    this.child = child;
    this.children = children;
    this.reports = reports;
    this.restarts = Restarts.none(policy);
  }

  @Override
  public int number() {
    return rank;
  }

  @Override
  public RankCall call() throws IOException {
    return call.filter(RankCall::open).orElseThrow(() -> new IOException("it is gone"));
  }

  /**
   * Counts the end of a process, and waits until another may start.
   *
   * @throws IOException if it ended too often
   */
  void awaitTurn() throws IOException {
    if (call.filter(RankCall::open).isPresent() && !exit.isDone()) {
      return;
    }
    hangUp();
    if (exit.isDone() && exit.join().equals(NONE)) {
      return;
    }
    children.kill(child.name());
    restarts = restarts.ended(System.nanoTime() / 1_000_000);
    if (restarts.persistent()) {
      throw new IOException(
          "%s ended %d times within %d minutes; see %s, then resume the run"
              .formatted(
                  child.name(),
                  restarts.endings().size(),
                  restarts.policy().windowMillis() / 60_000,
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
  long attend() throws IOException {
    if (call.isPresent()) {
      return 0;
    }
    CompletableFuture<RankCall> reporting = reports.apply(rank);
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
  public String fate(IOException seen) {
    if (seen instanceof RankCall.RankFailedException) {
      return String.valueOf(seen.getMessage());
    }
    try {
      Children.Exit end = exit.get(ENDING.toMillis(), TimeUnit.MILLISECONDS);
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
    hangUp();
  }

  /** The process ends by that. */
  @Override
  public void hangUp() {
    call.ifPresent(RankCall::close);
    call = Optional.empty();
  }
}
