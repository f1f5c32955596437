package io.troupe.engine.http;

import io.troupe.base.failure.Causes;
import io.troupe.core.rollout.Completion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.protocol.Checked;
import io.troupe.engine.http.protocol.Drawn;
import io.troupe.engine.http.protocol.Fault;
import io.troupe.engine.http.protocol.Retry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends parts of groups to servers and sees to what comes of it: completions are judged and kept,
 * those that were cut are drawn on, failures are tried again or end their group. A group is
 * answered when its parts are, and fails with the first of them.
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
    if (errand.goesOnOtherwise()) {
      books.abandon(errand);
      errand.replica().release(errand.draw());
      giveUp(job, goesOnOtherwise(errand));
      give();
      return;
    }
    DrawCall call =
        errand
            .replica()
            .draw(
                errand.can().dialect(),
                errand.draw(),
                errand.part().sinceNanos().orElseGet(System::nanoTime),
                clock);
    if (!books.callBegan(job, call)) {
      call.cancel();
    }
    var _ =
        call.result()
            .whenComplete(
                (answers, failure) -> {
                  books.callEnded(job, call);
                  Optional<Throwable> why = Optional.ofNullable(failure).map(Causes::of);
                  var _ =
                      settled(errand, why)
                          .whenComplete(
                              (_, _) -> {
                                if (why.isPresent()) {
                                  failed(errand, why.get(), call.sinceNanos());
                                } else {
                                  answered(errand, answers, call.sinceNanos());
                                }
                                give();
                              });
                });
  }

  /** When it can be judged; at once where no token came. */
  private static CompletionStage<Void> settled(Errand errand, Optional<Throwable> failure) {
    boolean drew =
        failure
            .map(why -> why instanceof EndpointException broken && broken.tokens() > 0)
            .orElse(true);
    return drew ? errand.settled() : CompletableFuture.completedStage(null);
  }

  private static IllegalStateException goesOnOtherwise(Errand errand) {
    return new IllegalStateException(
        "%s: completion %d was cut after %d tokens and is not drawn on: %s penalises the tokens of"
                .formatted(
                    errand.replica().name(),
                    errand.part().first(),
                    errand.part().head().length(),
                    errand.can().dialect().title())
            + " the rest alone; set rollout.repetition_penalty to 1, or do not abort requests"
            + " there");
  }

  private void answered(Errand errand, List<Drawn> answers, long since) {
    switch (errand.judge(answers, tokenizer, books.published(), since)) {
      case Errand.Worth.Sound(Map<Integer, Completion> whole, List<GroupJob.Part> cut) -> {
        books.keep(errand, whole).ifPresent(errand.part().job().answer()::complete);
        cut.forEach(part -> drawOn(errand, part, "the server aborted it"));
      }
      case Errand.Worth.Unsound(Checked.Refused why) -> {
        books.refuse(errand, why);
        refused(errand, why);
        failAllInAnOutage();
      }
    }
  }

  private void refused(Errand errand, Checked.Refused why) {
    String server = errand.replica().name();
    LOG.warn("server={} completion refused {}", server, why);
    giveUp(errand.part().job(), new EngineUnavailableException("%s: %s".formatted(server, why)));
  }

  /**
   * Groups that waited for servers which are all under quarantine now; later ones wait for its end.
   */
  private void failAllInAnOutage() {
    books
        .outage()
        .ifPresent(
            why -> {
              LOG.warn("no server draws, all are quarantined reason={}", why);
              EngineUnavailableException nobody =
                  new EngineUnavailableException("no inference server draws: " + why);
              books.openJobs().forEach(job -> giveUp(job, nobody));
            });
  }

  /** Asks for the rest of a completion, wherever there is room for it. */
  private void drawOn(Errand errand, GroupJob.Part part, String why) {
    String server = errand.replica().name();
    int kept = part.head().length();
    Duration spent = spent(part.sinceNanos().orElseThrow());
    Duration left = total(errand).minus(spent);
    switch (retry.afterCut(part.cuts(), left, ThreadLocalRandom.current().nextDouble())) {
      case Retry.Decision.Again(Duration pause) -> {
        LOG.info( // all that a second drawing of it needs, beside the run's seed
            "server={} lease={} completion={} cut={} kept={} reason={}",
            server,
            part.job().request().lease(),
            part.first(),
            part.cuts(),
            kept,
            why);
        giveLater(part, pause);
      }
      case Retry.Decision.GiveUp() ->
          giveUp(
              part.job(),
              new EngineUnavailableException(
                  "%s: completion %d was cut %d times, the last time after %d tokens and %d s: %s"
                      .formatted(server, part.first(), part.cuts(), kept, spent.toSeconds(), why)));
    }
  }

  private static Duration total(Errand errand) {
    return errand.replica().wire().endpoint().patience().total();
  }

  private static Duration spent(long sinceNanos) {
    return Duration.ofNanos(System.nanoTime() - sinceNanos);
  }

  private void failed(Errand errand, Throwable cause, long since) {
    if (cause instanceof EndpointException broken) {
      broke(errand, broken, since);
    } else {
      books.abandon(errand);
      giveUp(errand.part().job(), cause);
    }
  }

  private void broke(Errand errand, EndpointException broken, long since) {
    Fault fault =
        errand.draw().adapter().isEmpty() ? broken.fault() : broken.fault().ofAdapterRequest();
    books.fail(errand, fault);
    if (broken.fault().isCut() && broken.tokens() > 0) {
      wasCut(errand, broken, since);
    } else {
      tryAgain(errand, fault, broken, since);
    }
    if (fault.isHang()) {
      keeper.broken(errand.replica().name());
    }
    failAllInAnOutage();
  }

  private void tryAgain(Errand errand, Fault fault, EndpointException broken, long since) {
    GroupJob.Part part = errand.part();
    int tries = part.tries() + 1;
    Duration left = total(errand).minus(spent(since));
    double jitter = ThreadLocalRandom.current().nextDouble();
    Retry.Decision decision =
        fault.isRefusal()
            ? retry.afterRefusal(tries, left, jitter)
            : retry.after(fault, tries, broken.tokens(), left, jitter);
    switch (decision) {
      case Retry.Decision.Again(Duration pause) -> giveLater(part.again(since), pause);
      case Retry.Decision.GiveUp() ->
          giveUp(
              part.job(),
              fault.kind() == Fault.Kind.BAD_REQUEST // by servers that draw for others
                  ? broken
                  : new EngineUnavailableException(String.valueOf(broken.getMessage()), broken));
    }
  }

  /** Keeps what came of an answer that broke off. */
  private void wasCut(Errand errand, EndpointException broken, long since) {
    switch (errand.judge(broken.drawn(), tokenizer, books.published(), since)) {
      case Errand.Worth.Sound(Map<Integer, Completion> whole, List<GroupJob.Part> cut) -> {
        books.keepOfFailed(errand, whole).ifPresent(errand.part().job().answer()::complete);
        cut.forEach(part -> drawOn(errand, part, broken.fault().toString()));
      }
      case Errand.Worth.Unsound(Checked.Refused why) -> {
        books.refuseOfFailed(errand, why.reason());
        refused(errand, why);
      }
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
