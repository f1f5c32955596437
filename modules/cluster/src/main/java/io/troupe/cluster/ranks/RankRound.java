package io.troupe.cluster.ranks;

import io.troupe.engine.parallel.RankLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/**
 * Ranks that are asked all at once. One that is silent while another one has failed is ended.
 *
 * @param seats by their places in the group
 * @param threads that wait for the answers
 */
record RankRound(List<? extends RankSeat> seats, Executor threads) {
  /** How long a rank may be silent once another one has failed. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** What each rank is asked. */
  interface Question<T> {
    T to(int place, RankSeat seat) throws IOException, RankLostException;
  }

  /**
   * Asks.
   *
   * @return the answers, by places
   * @throws RankLostException with the number of the one that is at fault
   */
  <T> List<T> all(Question<T> question) throws RankLostException {
    List<CompletableFuture<T>> answers = new ArrayList<>();
    CompletableFuture<Boolean> settled = new CompletableFuture<>();
    for (int place = 0; place < seats.size(); place++) {
      int own = place;
      CompletableFuture<T> answer = new CompletableFuture<>();
      answers.add(answer);
      threads.execute(
          () -> {
            try {
              answer.complete(question.to(own, seats.get(own)));
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
      silent =
          IntStream.range(0, seats.size()).filter(r -> !answers.get(r).isDone()).boxed().toList();
      silent.forEach(place -> seats.get(place).end());
    } catch (ExecutionException known) {
      // Each answer tells its own.
    }
    for (int place = 0; place < seats.size(); place++) {
      if (answers.get(place).isCompletedExceptionally()
          && answers.get(place).exceptionNow() instanceof IOException gone) {
        RankSeat seat = seats.get(place);
        throw new RankLostException(seat.number(), seat.fate(gone), gone);
      }
    }
    if (!silent.isEmpty()) {
      throw new RankLostException(
          seats.get(silent.getFirst()).number(), "it was silent, and was ended");
    }
    for (CompletableFuture<T> answer : answers) {
      if (answer.isCompletedExceptionally()
          && answer.exceptionNow() instanceof RankLostException lost) {
        throw new RankLostException(seats.get(lost.rank()).number(), lost.reason(), lost);
      }
    }
  }
}
