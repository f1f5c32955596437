package io.troupe.engine.http.fleet;

import io.troupe.base.failure.Causes;
import io.troupe.core.rollout.Completion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.StreamingCall;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CheckedCompletion;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.RetryPolicy;
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
final class RequestDispatcher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RequestDispatcher.class);

  private final FleetState books;
  private final Tokenizer tokenizer;
  private final RetryPolicy retry;
  private final ServerSupervisor keeper;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("fleet-clock").daemon().factory());

  RequestDispatcher(
      FleetState books, Tokenizer tokenizer, RetryPolicy retry, ServerSupervisor keeper) {
    this.books = books;
    this.tokenizer = tokenizer;
    this.retry = retry;
    this.keeper = keeper;
  }

  /** Gives waiting parts to servers that are ready for them. */
  void assign() {
    books.assignParts().forEach(this::send);
  }

  private void send(ReplicaRequest errand) {
    GroupRequest job = errand.part().job();
    if (errand.continuesFromOtherDistribution()) {
      books.requestAbandoned(errand);
      errand.replica().release(errand.draw());
      giveUp(job, cannotContinueHere(errand));
      assign();
      return;
    }
    StreamingCall call =
        errand
            .replica()
            .sample(
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
                                  onResponse(errand, answers, call.sinceNanos());
                                }
                                assign();
                              });
                });
  }

  /** When it can be judged; at once where no token came. */
  private static CompletionStage<Void> settled(ReplicaRequest errand, Optional<Throwable> failure) {
    boolean drew =
        failure
            .map(why -> why instanceof InferenceCallException broken && broken.tokens() > 0)
            .orElse(true);
    return drew ? errand.settled() : CompletableFuture.completedStage(null);
  }

  private static IllegalStateException cannotContinueHere(ReplicaRequest errand) {
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

  private void onResponse(ReplicaRequest errand, List<RawCompletion> answers, long since) {
    switch (errand.judge(answers, tokenizer, books.published(), since)) {
      case ReplicaRequest.ResponseCheck.Usable(
              Map<Integer, Completion> whole,
              List<GroupRequest.Part> cut) -> {
        books.recordUsable(errand, whole).ifPresent(errand.part().job().answer()::complete);
        cut.forEach(part -> continueCompletion(errand, part, "the server aborted it"));
      }
      case ReplicaRequest.ResponseCheck.Unusable(CheckedCompletion.Refused why) -> {
        books.recordRefused(errand, why);
        refused(errand, why);
        failWaitingGroups();
      }
    }
  }

  private void refused(ReplicaRequest errand, CheckedCompletion.Refused why) {
    String server = errand.replica().name();
    LOG.warn("server={} completion refused {}", server, why);
    giveUp(errand.part().job(), new EngineUnavailableException("%s: %s".formatted(server, why)));
  }

  /**
   * Groups that waited for servers which are all under quarantine now; later ones wait for its end.
   */
  private void failWaitingGroups() {
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
  private void continueCompletion(ReplicaRequest errand, GroupRequest.Part part, String why) {
    String server = errand.replica().name();
    int kept = part.head().length();
    Duration spent = elapsed(part.sinceNanos().orElseThrow());
    Duration left = total(errand).minus(spent);
    switch (retry.afterCut(part.cuts(), left, ThreadLocalRandom.current().nextDouble())) {
      case RetryPolicy.RetryDecision.Again(Duration pause) -> {
        LOG.info( // all that a second drawing of it needs, beside the run's seed
            "server={} lease={} completion={} cut={} kept={} reason={}",
            server,
            part.job().request().lease(),
            part.first(),
            part.cuts(),
            kept,
            why);
        retryAfter(part, pause);
      }
      case RetryPolicy.RetryDecision.GiveUp() ->
          giveUp(
              part.job(),
              new EngineUnavailableException(
                  "%s: completion %d was cut %d times, the last time after %d tokens and %d s: %s"
                      .formatted(server, part.first(), part.cuts(), kept, spent.toSeconds(), why)));
    }
  }

  private static Duration total(ReplicaRequest errand) {
    return errand.replica().wire().endpoint().patience().total();
  }

  private static Duration elapsed(long sinceNanos) {
    return Duration.ofNanos(System.nanoTime() - sinceNanos);
  }

  private void failed(ReplicaRequest errand, Throwable cause, long since) {
    if (cause instanceof InferenceCallException broken) {
      onFailure(errand, broken, since);
    } else {
      books.requestAbandoned(errand);
      giveUp(errand.part().job(), cause);
    }
  }

  private void onFailure(ReplicaRequest errand, InferenceCallException broken, long since) {
    CallFailure fault =
        errand.draw().adapter().isEmpty() ? broken.fault() : broken.fault().ofAdapterRequest();
    books.requestFailed(errand, fault);
    if (broken.fault().isCut() && broken.tokens() > 0) {
      keepPartial(errand, broken, since);
    } else {
      retryOrFail(errand, fault, broken, since);
    }
    if (fault.isHang()) {
      keeper.restartNeeded(errand.replica().name());
    }
    failWaitingGroups();
  }

  private void retryOrFail(
      ReplicaRequest errand, CallFailure fault, InferenceCallException broken, long since) {
    GroupRequest.Part part = errand.part();
    int tries = part.tries() + 1;
    Duration left = total(errand).minus(elapsed(since));
    double jitter = ThreadLocalRandom.current().nextDouble();
    RetryPolicy.RetryDecision decision =
        fault.isRefusal()
            ? retry.afterRefusal(tries, left, jitter)
            : retry.after(fault, tries, broken.tokens(), left, jitter);
    switch (decision) {
      case RetryPolicy.RetryDecision.Again(Duration pause) -> retryAfter(part.again(since), pause);
      case RetryPolicy.RetryDecision.GiveUp() ->
          giveUp(
              part.job(),
              fault.kind() == CallFailure.Kind.BAD_REQUEST // by servers that draw for others
                  ? broken
                  : new EngineUnavailableException(String.valueOf(broken.getMessage()), broken));
    }
  }

  /** Keeps what came of an answer that broke off. */
  private void keepPartial(ReplicaRequest errand, InferenceCallException broken, long since) {
    switch (errand.judge(broken.drawn(), tokenizer, books.published(), since)) {
      case ReplicaRequest.ResponseCheck.Usable(
              Map<Integer, Completion> whole,
              List<GroupRequest.Part> cut) -> {
        books.recordPartial(errand, whole).ifPresent(errand.part().job().answer()::complete);
        cut.forEach(part -> continueCompletion(errand, part, broken.fault().toString()));
      }
      case ReplicaRequest.ResponseCheck.Unusable(CheckedCompletion.Refused why) -> {
        books.recordRefusedPartial(errand, why.reason());
        refused(errand, why);
      }
    }
  }

  private void retryAfter(GroupRequest.Part part, Duration pause) {
    if (!clock.isShutdown()) {
      var _ =
          clock.schedule(
              () -> {
                books.retryFirst(part);
                assign();
              },
              pause.toMillis(),
              TimeUnit.MILLISECONDS);
    }
  }

  /** Ends a group without its completions, unless it is over. */
  void giveUp(GroupRequest job, Throwable why) {
    books
        .giveUp(job, !(why instanceof CancellationException))
        .ifPresent(
            calls -> {
              job.answer().completeExceptionally(why);
              calls.forEach(StreamingCall::cancel);
            });
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
