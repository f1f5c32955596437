package io.troupe.ranks;

import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.ranks.protocol.CopyPlan;
import io.troupe.ranks.protocol.MarkedFolder;
import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.StepBarrier;
import io.troupe.ranks.protocol.VersionMarks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;

/**
 * Ranks that are asked all at once.
 *
 * <p>A rank that obeys gives signs of life, so one without them is at fault, however long the
 * others take; and one that gives them has the limit of the whole order. A rank that fails by its
 * own fault is ended at once, because the others may wait for its end. A round is over when every
 * rank has answered or is gone: nobody hears an answer after that.
 *
 * @param slots by their places in the group
 * @param threads that wait for the answers, and tell what ranks wait for; no bounded number
 * @param limit of an order
 * @param faults takes the number of each rank that failed by its own fault
 */
record RankFanOut(
    List<? extends RankSlot> slots, Executor threads, Duration limit, IntConsumer faults) {
  /** What each rank is asked. */
  interface Request<T> {
    T to(int place, RankSlot slot, StepBarrier.Arrival ticket)
        throws IOException, RankLostException;
  }

  /**
   * Asks.
   *
   * @return the answers, by places
   * @throws RankLostException with the number of the one that is at fault
   */
  <T> List<T> askAll(Request<T> question) throws RankLostException {
    StepBarrier gate = new StepBarrier(slots.size(), threads);
    List<CompletableFuture<T>> answers = new ArrayList<>();
    for (int place = 0; place < slots.size(); place++) {
      answers.add(ask(place, question, gate));
    }
    Set<Integer> late = awaited(answers, gate);
    for (int place : late) {
      throw new RankLostException(
          slots.get(place).number(), "it was not done after %s, and was ended".formatted(limit));
    }
    abandonLost(answers);
    return answers.stream().map(CompletableFuture::join).toList();
  }

  /**
   * A beginning: nobody waits in the ring for one that is lost.
   *
   * @param addresses where they listen, by places
   * @param folders with the trainer's state on their hosts, by places
   */
  void begin(List<String> addresses, List<String> folders) throws RankLostException {
    var _ =
        askAll(
            (place, slot, ticket) ->
                slot.call().begin(place, addresses, folders.get(place), ticket));
  }

  /**
   * A step: nobody exchanges before all have their gradients.
   *
   * @param mark of the copies that ranks keep of the state after it
   */
  List<RankStepOutcome> step(List<RankBatch> batches, OptimizerSettings optimisation, long mark)
      throws RankLostException {
    return askAll(
        (place, slot, ticket) -> {
          RankStepOutcome made = slot.call().step(batches.get(place), optimisation, mark, ticket);
          ticket.ready(); // One that had nothing to exchange holds nobody up.
          return made;
        });
  }

  /** Whether the ranks have moved in a step. */
  static boolean moved(List<RankStepOutcome> outcomes) {
    return outcomes.stream().allMatch(RankStepOutcome.Updated.class::isInstance);
  }

  /**
   * Has each write its piece of the state, or send it.
   *
   * @param marks of what the files have, and of what they are to have
   * @return the number of ranges that had to be sent again
   */
  int write(StateFiles files, VersionMarks marks) throws IOException, RankLostException {
    try (MarkedFolder marked = MarkedFolder.of(files.folder());
        TensorRangeWriter writer = TensorRangeWriter.open(files.folder(), files.names())) {
      List<Integer> again = askAll((_, slot, _) -> slot.call().write(files, marks, marked, writer));
      if (files.durable()) {
        writer.force();
      }
      return again.stream().mapToInt(Integer::intValue).sum();
    }
  }

  /**
   * Sends what a trainer has saved to those whose hosts do not have it.
   *
   * @return the folders where they have it, by places
   */
  List<String> sendState(Path state) throws IOException, RankLostException {
    try (MarkedFolder marked = MarkedFolder.of(state)) {
      return askAll((_, slot, _) -> slot.call().sendState(state, marked));
    }
  }

  /** Has each freeze its reference. */
  void freezeReference() throws RankLostException {
    var _ = askAll((_, slot, _) -> slot.call().freezeReference());
  }

  /**
   * Has all take the state after a step from copies, if every piece of it is left.
   *
   * @param mark of the copies
   * @param nextMark of those that they make of that state
   * @param steps from the state that they began from to that step
   * @return empty if they have it; otherwise why not
   */
  Optional<String> takeCopies(long mark, long nextMark, long steps) throws RankLostException {
    CopyPlan.Outcome outcome =
        CopyPlan.of(mark, nextMark, steps, askAll((_, slot, _) -> slot.call().copies()));
    return switch (outcome) {
      case CopyPlan.Lacking(String reason) -> Optional.of(reason);
      case CopyPlan.Found(CopyPlan plan) -> {
        var _ = askAll((_, slot, _) -> slot.call().takeCopies(plan));
        yield Optional.empty();
      }
    };
  }

  /** Returns the bytes that passed between the coordinator and these processes. */
  long bytes() {
    return slots.stream().mapToLong(RankFanOut::bytes).sum();
  }

  private static long bytes(RankSlot slot) {
    try {
      return slot.call().bytes();
    } catch (IOException gone) {
      return 0;
    }
  }

  private <T> CompletableFuture<T> ask(int place, Request<T> question, StepBarrier gate) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    RankSlot slot = slots.get(place);
    threads.execute(
        () -> {
          try {
            answer.complete(question.to(place, slot, gate.at(place)));
          } catch (Throwable failure) { // Whatever it is, somebody waits for the answer.
            if (failure instanceof RankClient.RankFailedException) {
              faults.accept(slot.number());
              slot.end();
            } else if (!(failure instanceof RankLostException)) {
              slot.disconnect(); // What of its answer is still to be heard is no answer to the
              // next.
            }
            gate.abandon(place, String.valueOf(failure.getMessage()));
            answer.completeExceptionally(failure);
          }
        });
    return answer;
  }

  /**
   * Waits for all answers, and ends every rank that keeps the others waiting for longer than the
   * limit.
   *
   * @return the places of those
   */
  private <T> Set<Integer> awaited(List<CompletableFuture<T>> answers, StepBarrier gate)
      throws RankLostException {
    CompletableFuture<Void> whole =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    Set<Integer> late = new TreeSet<>();
    while (true) {
      try {
        whole.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        return late;
      } catch (ExecutionException known) {
        return late; // Each answer tells its own.
      } catch (TimeoutException over) {
        for (int place = 0; place < slots.size(); place++) {
          if (!answers.get(place).isDone() && !gate.isWaitingFor(place) && late.add(place)) {
            faults.accept(slots.get(place).number());
            slots.get(place).end();
          }
        }
      } catch (InterruptedException stopped) {
        slots.forEach(RankSlot::disconnect);
        whole.exceptionally(_ -> null).join();
        Thread.currentThread().interrupt();
        throw new RankLostException(0, "the trainer is stopped", stopped);
      }
    }
  }

  /** Throws for the rank that is gone or failed; the others only miss it. */
  private <T> void abandonLost(List<CompletableFuture<T>> answers) throws RankLostException {
    for (int place = 0; place < slots.size(); place++) {
      if (failure(answers.get(place)).orElse(null) instanceof IOException gone) {
        RankSlot slot = slots.get(place);
        throw new RankLostException(slot.number(), slot.describeEnd(gone), gone);
      }
    }
    for (int place = 0; place < slots.size(); place++) {
      Optional<Throwable> failure = failure(answers.get(place));
      if (failure.isPresent()) {
        throw failure.get() instanceof RankLostException lost
            ? new RankLostException(slots.get(lost.rank()).number(), lost.reason(), lost)
            : new RankLostException(
                slots.get(place).number(),
                "the coordinator could not hear its answer: " + failure.get(),
                failure.get());
      }
    }
  }

  private static Optional<Throwable> failure(CompletableFuture<?> answer) {
    return answer.isCompletedExceptionally()
        ? Optional.of(answer.exceptionNow())
        : Optional.empty();
  }
}
