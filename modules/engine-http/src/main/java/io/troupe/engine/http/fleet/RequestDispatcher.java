package io.troupe.engine.http.fleet;

import io.troupe.base.failure.Causes;
import io.troupe.core.completion.Completion;
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
 * Sends parts of groups to replicas and handles the results: usable completions are kept, cut
 * completions are continued, and a failure is retried or ends its group. A group completes with its
 * last part, and fails with the first failure of a part.
 */
final class RequestDispatcher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RequestDispatcher.class);

  private final FleetState state;
  private final Tokenizer tokenizer;
  private final RetryPolicy retry;
  private final ServerSupervisor supervisor;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("fleet-clock").daemon().factory());

  RequestDispatcher(
      FleetState state, Tokenizer tokenizer, RetryPolicy retry, ServerSupervisor supervisor) {
    this.state = state;
    this.tokenizer = tokenizer;
    this.retry = retry;
    this.supervisor = supervisor;
  }

  /** Assigns waiting parts to replicas that are ready for them. */
  void assign() {
    state.assignParts().forEach(this::send);
  }

  private void send(ReplicaRequest request) {
    GroupRequest job = request.part().job();
    if (request.continuesFromOtherDistribution()) {
      state.requestAbandoned(request);
      request.replica().release(request.sample());
      giveUp(job, cannotContinueHere(request));
      assign();
      return;
    }
    StreamingCall call =
        request
            .replica()
            .sample(
                request.can().dialect(),
                request.sample(),
                request.part().sinceNanos().orElseGet(System::nanoTime),
                clock);
    if (!state.callBegan(job, call)) {
      call.cancel();
    }
    var _ =
        call.result()
            .whenComplete(
                (answers, failure) -> {
                  state.callEnded(job, call);
                  Optional<Throwable> why = Optional.ofNullable(failure).map(Causes::of);
                  var _ =
                      settled(request, why)
                          .whenComplete(
                              (_, _) -> {
                                if (why.isPresent()) {
                                  failed(request, why.get(), call.sinceNanos());
                                } else {
                                  onResponse(request, answers, call.sinceNanos());
                                }
                                assign();
                              });
                });
  }

  /** Completes when the request can be judged; immediately if no token arrived. */
  private static CompletionStage<Void> settled(
      ReplicaRequest request, Optional<Throwable> failure) {
    boolean sampled =
        failure
            .map(why -> why instanceof InferenceCallException broken && broken.tokens() > 0)
            .orElse(true);
    return sampled ? request.settled() : CompletableFuture.completedStage(null);
  }

  private static IllegalStateException cannotContinueHere(ReplicaRequest request) {
    return new IllegalStateException(
        "%s: completion %d was cut after %d tokens and is not continued: %s penalises the tokens of"
                .formatted(
                    request.replica().name(),
                    request.part().first(),
                    request.part().head().length(),
                    request.can().dialect().title())
            + " the rest alone; set rollout.repetition_penalty to 1, or do not abort requests"
            + " there");
  }

  private void onResponse(ReplicaRequest request, List<RawCompletion> answers, long since) {
    switch (request.judge(answers, tokenizer, state.published(), since)) {
      case ReplicaRequest.ResponseCheck.Usable(
              Map<Integer, Completion> whole,
              List<GroupRequest.Part> cut) -> {
        state.recordUsable(request, whole).ifPresent(request.part().job().answer()::complete);
        cut.forEach(part -> continueCompletion(request, part, "the server aborted it"));
      }
      case ReplicaRequest.ResponseCheck.Unusable(CheckedCompletion.Refused why) -> {
        state.recordRefused(request, why);
        refused(request, why);
        failWaitingGroups();
      }
    }
  }

  private void refused(ReplicaRequest request, CheckedCompletion.Refused why) {
    String server = request.replica().name();
    LOG.warn("server={} completion refused {}", server, why);
    giveUp(request.part().job(), new EngineUnavailableException("%s: %s".formatted(server, why)));
  }

  /**
   * Fails the groups that wait while the circuit breakers of all replicas are open; later groups
   * wait until a breaker closes.
   */
  private void failWaitingGroups() {
    state
        .outage()
        .ifPresent(
            why -> {
              LOG.warn("no server samples, all are quarantined reason={}", why);
              EngineUnavailableException nobody =
                  new EngineUnavailableException("no inference server samples: " + why);
              state.openJobs().forEach(job -> giveUp(job, nobody));
            });
  }

  /** Requests the rest of a completion from any replica with room. */
  private void continueCompletion(ReplicaRequest request, GroupRequest.Part part, String why) {
    String server = request.replica().name();
    int kept = part.head().length();
    Duration spent = elapsed(part.sinceNanos().orElseThrow());
    Duration left = total(request).minus(spent);
    switch (retry.afterCut(part.cuts(), left, ThreadLocalRandom.current().nextDouble())) {
      case RetryPolicy.RetryDecision.Again(Duration pause) -> {
        LOG.info( // all that a repeated sample needs, beside the run's seed
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

  private static Duration total(ReplicaRequest request) {
    return request.replica().wire().endpoint().patience().total();
  }

  private static Duration elapsed(long sinceNanos) {
    return Duration.ofNanos(System.nanoTime() - sinceNanos);
  }

  private void failed(ReplicaRequest request, Throwable cause, long since) {
    if (cause instanceof InferenceCallException broken) {
      onFailure(request, broken, since);
    } else {
      state.requestAbandoned(request);
      giveUp(request.part().job(), cause);
    }
  }

  private void onFailure(ReplicaRequest request, InferenceCallException broken, long since) {
    CallFailure fault =
        request.sample().adapter().isEmpty() ? broken.fault() : broken.fault().ofAdapterRequest();
    state.requestFailed(request, fault);
    if (broken.fault().isCut() && broken.tokens() > 0) {
      keepPartial(request, broken, since);
    } else {
      retryOrFail(request, fault, broken, since);
    }
    if (fault.isHang()) {
      supervisor.restartNeeded(request.replica().name());
    }
    failWaitingGroups();
  }

  private void retryOrFail(
      ReplicaRequest request, CallFailure fault, InferenceCallException broken, long since) {
    GroupRequest.Part part = request.part();
    int tries = part.tries() + 1;
    Duration left = total(request).minus(elapsed(since));
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
              fault.kind() == CallFailure.Kind.BAD_REQUEST // by servers that sample for others
                  ? broken
                  : new EngineUnavailableException(String.valueOf(broken.getMessage()), broken));
    }
  }

  /** Keeps the tokens of an answer that broke off. */
  private void keepPartial(ReplicaRequest request, InferenceCallException broken, long since) {
    switch (request.judge(broken.sampled(), tokenizer, state.published(), since)) {
      case ReplicaRequest.ResponseCheck.Usable(
              Map<Integer, Completion> whole,
              List<GroupRequest.Part> cut) -> {
        state.recordPartial(request, whole).ifPresent(request.part().job().answer()::complete);
        cut.forEach(part -> continueCompletion(request, part, broken.fault().toString()));
      }
      case ReplicaRequest.ResponseCheck.Unusable(CheckedCompletion.Refused why) -> {
        state.recordRefusedPartial(request, why.reason());
        refused(request, why);
      }
    }
  }

  private void retryAfter(GroupRequest.Part part, Duration pause) {
    if (!clock.isShutdown()) {
      var _ =
          clock.schedule(
              () -> {
                state.retryFirst(part);
                assign();
              },
              pause.toMillis(),
              TimeUnit.MILLISECONDS);
    }
  }

  /** Ends a group without its completions, unless it is over. */
  void giveUp(GroupRequest job, Throwable why) {
    state
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
