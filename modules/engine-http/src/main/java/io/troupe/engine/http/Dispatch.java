package io.troupe.engine.http;

import io.troupe.core.rollout.Completion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.protocol.Checked;
import io.troupe.engine.http.protocol.Drawn;
import io.troupe.engine.http.protocol.Fault;
import io.troupe.engine.http.protocol.Retry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends parts of groups to servers and sees to what comes of it: completions are judged and kept,
 * failures are tried again or end their group. A group is answered when its parts are, and fails
 * with the first of them.
 */
final class Dispatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatch.class);

  private final FleetBooks books;
  private final Tokenizer tokenizer;
  private final Retry retry;
  private final Keeper keeper;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("fleet-clock").daemon().factory());

  Dispatch(FleetBooks books, Tokenizer tokenizer, Retry retry, Keeper keeper) {
    this.books = books;
    this.tokenizer = tokenizer;
    this.retry = retry;
    this.keeper = keeper;
  }

  /** Gives waiting parts to servers that are ready for them. */
  void give() {
    books.give().forEach(this::send);
  }

  private void send(Errand errand) {
    GroupJob job = errand.part().job();
    DrawCall call = errand.replica().draw(errand.can().dialect(), errand.draw(), clock);
    if (!books.callBegan(job, call)) {
      call.cancel();
    }
    var _ =
        call.result()
            .whenComplete(
                (answers, failure) -> {
                  books.callEnded(job, call);
                  if (failure == null) {
                    answered(errand, answers);
                  } else {
                    failed(errand, cause(failure));
                  }
                  give();
                });
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  private void answered(Errand errand, List<Drawn> answers) {
    switch (errand.judge(answers, tokenizer, books.published())) {
      case Errand.Worth.Sound(List<Completion> completions) ->
          books.keep(errand, completions).ifPresent(errand.part().job().answer()::complete);
      case Errand.Worth.Unsound(Checked.Refused why) -> {
        String server = errand.replica().name();
        books.refuse(errand, why.reason());
        LOG.warn("server={} completion refused {}", server, why);
        giveUp(errand.part().job(), new IllegalStateException("%s: %s".formatted(server, why)));
      }
    }
  }

  private void failed(Errand errand, Throwable cause) {
    if (cause instanceof EndpointException broken) {
      broke(errand, broken);
    } else {
      books.abandon(errand);
      giveUp(errand.part().job(), cause);
    }
  }

  private void broke(Errand errand, EndpointException broken) {
    Fault fault = broken.fault();
    GroupJob.Part part = errand.part();
    books.fail(errand, fault);
    switch (retry.after(
        fault,
        part.tries() + 1,
        broken.tokens(),
        errand.replica().wire().endpoint().patience().total(),
        ThreadLocalRandom.current().nextDouble())) {
      case Retry.Decision.Again(Duration pause) -> giveLater(part.again(), pause);
      case Retry.Decision.GiveUp() -> giveUp(part.job(), broken);
    }
    if (fault.isHang()) {
      keeper.broken(errand.replica().name());
    }
  }

  private void giveLater(GroupJob.Part part, Duration pause) {
    if (!clock.isShutdown()) {
      var _ =
          clock.schedule(
              () -> {
                books.again(part);
                give();
              },
              pause.toMillis(),
              TimeUnit.MILLISECONDS);
    }
  }

  /** Ends a group without its completions, unless it is over. */
  void giveUp(GroupJob job, Throwable why) {
    books
        .giveUp(job, !(why instanceof CancellationException))
        .ifPresent(
            calls -> {
              job.answer().completeExceptionally(why);
              calls.forEach(DrawCall::cancel);
            });
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
