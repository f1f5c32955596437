package io.troupe.cluster.ranks;

import static io.troupe.core.Require.require;

import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.Children;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.Restarts;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankCrew;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ranks that are child processes of the head, which exchange over sockets. One that ends is started
 * again when the trainer begins anew, after a pause, and given up when it ends too often. One that
 * is silent while the others have answered is ended.
 */
public final class RankProcesses implements RankCrew {
  private static final Logger LOG = LoggerFactory.getLogger(RankProcesses.class);

  /** How long a rank may be silent once another one has failed. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final List<RankSeat> seats = new ArrayList<>();
  private final Children children = new Children();
  private final RankReception reception;
  private final Consumer<String> say;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rank-talk-", 0).factory());

  /** How to start a rank. */
  @FunctionalInterface
  public interface Starter {
    /**
     * What to start.
     *
     * @param rank from 0
     * @param head where it reports
     * @param secret that it proves itself with, in hexadecimal digits
     */
    ChildSpec of(int rank, HostPort head, String secret) throws IOException;
  }

  private RankProcesses(int ranks, Starter starter, Restarts.Policy policy, Consumer<String> say)
      throws IOException {
    this.say = say;
    this.reception = RankReception.open();
    for (int rank = 0; rank < ranks; rank++) {
      ChildSpec child = starter.of(rank, reception.address(), reception.secret());
      seats.add(new RankSeat(rank, child, children, reception, policy));
    }
  }

  /**
   * A crew whose processes start when the trainer begins.
   *
   * @param say told which ranks start, and which are lost
   */
  public static RankProcesses of(int ranks, Starter starter, Consumer<String> say)
      throws IOException {
    return of(ranks, starter, Restarts.Policy.DEFAULT, say);
  }

  /** The same with another rule of when a process is started again. */
  static RankProcesses of(int ranks, Starter starter, Restarts.Policy policy, Consumer<String> say)
      throws IOException {
    require(ranks >= 1, "a trainer has 1 rank or more, not %d", ranks);
    return new RankProcesses(ranks, starter, policy, say);
  }

  @Override
  public int size() {
    return seats.size();
  }

  /** What is asked of each rank at once. */
  private interface Question<T> {
    T to(RankSeat seat) throws IOException, RankLostException;
  }

  @Override
  public void begin(Path state) throws IOException, RankLostException {
    for (RankSeat seat : seats) {
      seat.awaitTurn();
    }
    List<Long> started = all(RankSeat::attend);
    for (int rank = 0; rank < started.size(); rank++) {
      if (started.get(rank) > 0) {
        say.accept("trainer rank %d is process %d".formatted(rank, started.get(rank)));
      }
    }
    List<Integer> ports = all(RankSeat::listen);
    all(
        seat -> {
          seat.begin(state, ports);
          return true;
        });
  }

  @Override
  public List<RankStep> step(List<RankShare> shares, Optimisation optimisation)
      throws RankLostException {
    return all(seat -> seat.step(shares.get(seat.rank()), optimisation));
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say.accept("the step is abandoned and made again: " + reason);
  }

  private <T> List<T> all(Question<T> question) throws RankLostException {
    List<CompletableFuture<T>> answers = new ArrayList<>();
    CompletableFuture<Boolean> settled = new CompletableFuture<>();
    for (RankSeat seat : seats) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      answers.add(answer);
      threads.execute(
          () -> {
            try {
              answer.complete(question.to(seat));
            } catch (IOException | RankLostException | RuntimeException failure) {
              answer.completeExceptionally(failure);
              settled.complete(false);
            }
          });
    }
    CompletableFuture<Void> whole =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    var _ = whole.thenRun(() -> settled.complete(true));
    try {
      if (!settled.get()) {
        endTheSilent(answers, whole);
      }
      return answers.stream().map(CompletableFuture::join).toList();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new RankLostException(0, "the trainer is stopped", stopped);
    }
  }

  /** Waits for the others' answers, ends those that give none, and tells who is at fault. */
  private <T> void endTheSilent(List<CompletableFuture<T>> answers, CompletableFuture<Void> whole)
      throws RankLostException, InterruptedException {
    List<Integer> silent = List.of();
    try {
      whole.get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      silent = IntStream.range(0, size()).filter(r -> !answers.get(r).isDone()).boxed().toList();
      silent.forEach(rank -> seats.get(rank).end());
    } catch (ExecutionException known) {
      // Each answer tells its own.
    }
    for (int rank = 0; rank < size(); rank++) {
      if (answers.get(rank).isCompletedExceptionally()
          && answers.get(rank).exceptionNow() instanceof IOException gone) {
        throw new RankLostException(rank, seats.get(rank).fate(gone), gone);
      }
    }
    if (!silent.isEmpty()) {
      throw new RankLostException(silent.getFirst(), "it was silent, and was ended");
    }
    for (CompletableFuture<T> answer : answers) {
      if (answer.isCompletedExceptionally()
          && answer.exceptionNow() instanceof RankLostException lost) {
        throw lost;
      }
    }
  }

  @Override
  public void close() {
    seats.forEach(RankSeat::hangUp);
    reception.close();
    children.close();
    threads.close();
  }
}
