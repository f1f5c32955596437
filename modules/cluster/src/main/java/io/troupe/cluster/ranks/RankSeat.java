package io.troupe.cluster.ranks;

import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.Children;
import io.troupe.cluster.Restarts;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The place of a rank: its process, as long as it lives, and the connection to it. */
final class RankSeat {
  /** A process may load PyTorch and read a checkpoint first. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final Duration ENDING = Duration.ofSeconds(10);

  private final int rank;
  private final ChildSpec child;
  private final Children children;
  private final RankReception reception;
  private final CountDownLatch leaving = new CountDownLatch(1);
  private Restarts restarts;
  private Optional<RankLine> line = Optional.empty();
  private CompletableFuture<Children.Exit> exit = CompletableFuture.completedFuture(NONE);

  private static final Children.Exit NONE = new Children.Exit(0, 0);

  RankSeat(
      int rank,
      ChildSpec child,
      Children children,
      RankReception reception,
      Restarts.Policy policy) {
    this.rank = rank;
    this.child = child;
    this.children = children;
    this.reception = reception;
    this.restarts = Restarts.none(policy);
  }

  int rank() {
    return rank;
  }

  /**
   * Counts the end of a process, and waits until another may start.
   *
   * @throws IOException if it ended too often
   */
  void awaitTurn() throws IOException {
    if (line.isPresent() && !exit.isDone()) {
      return;
    }
    hangUp();
    if (exit.isDone() && exit.join().equals(NONE)) {
      return;
    }
    children.kill(child.name());
    restarts = restarts.ended(System.nanoTime() / 1_000_000);
    Optional<Long> pause = restarts.pauseMillis();
    if (pause.isEmpty()) {
      throw new IOException(
          "%s ended %d times within %d minutes; see %s, then resume the run"
              .formatted(
                  child.name(),
                  restarts.endings().size(),
                  restarts.policy().windowMillis() / 60_000,
                  child.log()));
    }
    try {
      var _ = leaving.await(pause.get(), TimeUnit.MILLISECONDS);
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
    if (line.isPresent()) {
      return 0;
    }
    CompletableFuture<RankLine> reporting = reception.await(rank);
    exit = children.start(child).toCompletableFuture();
    try {
      var _ =
          CompletableFuture.anyOf(reporting, exit).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (!reporting.isDone()) {
        throw new IOException("it did not report");
      }
      line = Optional.of(reporting.join());
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

  int listen() throws IOException, RankLostException {
    return switch (ask(new RankTalk.Listen())) {
      case RankTalk.Listening(int port) -> port;
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  void begin(Path state, List<Integer> ports) throws IOException, RankLostException {
    if (!(ask(new RankTalk.Begin(state.toString(), ports)) instanceof RankTalk.Begun)) {
      throw new IOException("it did not begin");
    }
  }

  RankStep step(RankShare share, Optimisation optimisation) throws IOException, RankLostException {
    return switch (ask(new RankTalk.Step(share, optimisation))) {
      case RankTalk.Moved(var norm, var part) -> {
        RankLine to = connected();
        yield new RankStep.Moved(norm, part, to.hearArray(), to.hearArray(), to.hearArray());
      }
      case RankTalk.Refused(String reason) -> new RankStep.Refused(reason);
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  /** Asks, and passes on what went wrong; a rank that failed by its own fault is the lost one. */
  private RankTalk.Answer ask(RankTalk.Order order) throws IOException, RankLostException {
    RankLine to = connected();
    try {
      to.say(order);
      return switch (to.hear()) {
        case RankTalk.Lost(int other, String reason) -> throw new RankLostException(other, reason);
        case RankTalk.Failed(String reason) -> throw new RankFailedException(reason);
        case RankTalk.Answer answer -> answer;
        case RankTalk.Order other -> throw new IOException("no answer of a rank's: " + other);
      };
    } catch (RankFailedException failed) {
      throw failed;
    } catch (IOException gone) {
      hangUp();
      throw gone;
    }
  }

  /** It answers, and could not do what was asked. */
  private static final class RankFailedException extends IOException {
    private static final long serialVersionUID = 1L;

    RankFailedException(String reason) {
      super(reason);
    }
  }

  private RankLine connected() throws IOException {
    return line.orElseThrow(() -> new IOException("it is gone"));
  }

  private static IOException strange(RankTalk.Answer answer) {
    return new IOException("it answered " + answer);
  }

  /** What became of it, in words. */
  String fate(IOException seen) {
    if (seen instanceof RankFailedException) {
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

  /** Ends the process. */
  void end() {
    children.kill(child.name());
    hangUp();
  }

  /** Closes the connection; the process ends by that. */
  void hangUp() {
    if (line.isPresent()) {
      try {
        line.get().close();
      } catch (IOException gone) {
        // It is closed.
      }
    }
    line = Optional.empty();
  }
}
