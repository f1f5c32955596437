package io.troupe.runtime.evaluation;

import akka.actor.typed.ActorRef;
import io.troupe.core.TimeText;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.Evaluator;
import io.troupe.runtime.FailureCause;
import io.troupe.runtime.evaluation.EvaluationChunk.Asking;
import io.troupe.runtime.weights.PublishedWeights;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of an evaluation sampler, and the decision what follows a message. Pure: each
 * transition returns the next state and the actions that the sampler carries out, in order; engines
 * and addresses are only compared here. Time is monotonic, in nanoseconds.
 *
 * <p>Invariant: a chunk is answered once, by {@code Failed}, {@code Refused}, or all completions of
 * all requests, unless it is abandoned. Its completions are of an engine that only ever had the
 * chunk's weights.
 *
 * @param leases that were used so far; each request is sampled under one of its own
 */
public record SamplerState(
    Terms terms, Optional<EvaluationChunk> chunk, Optional<Held> held, long leases) {
  /**
   * The evaluation that a sampler works for, and its patience.
   *
   * @param worker name of the worker, for the sentences of failures
   * @param run that the worker works for
   * @param refusal why nothing can be sampled here; empty where something can
   * @param patience time for which an engine may sample no token and answer no request
   * @param idle time for which an engine without a chunk is kept
   */
  public record Terms(
      String worker, String run, Optional<String> refusal, Duration patience, Duration idle) {
    /** The patience of an evaluator, and two minutes for an engine without a chunk. */
    public Terms(String worker, String run, Optional<String> refusal) {
      this(worker, run, refusal, Evaluator.PATIENCE, Duration.ofMinutes(2));
    }
  }

  /** The engine, and the weights that it was given. */
  public record Held(WeightVersion version, String digest, SamplingEngine engine) {
    private boolean has(PublishedWeights weights) {
      return version.equals(weights.version()) && digest.equals(weights.digest());
    }
  }

  /** A state and the actions that lead to it, in order. */
  public record Next(SamplerState state, List<SamplerAction> actions) {
    public Next {
      actions = List.copyOf(actions);
    }

    private Next then(Next more) {
      return new Next(more.state, Stream.concat(actions.stream(), more.actions.stream()).toList());
    }
  }

  static final Duration SIGN_EVERY = Duration.ofSeconds(5);

  /** No chunk and no engine. */
  public static SamplerState idle(Terms terms) {
    return new SamplerState(terms, Optional.empty(), Optional.empty(), 0);
  }

  /** A chunk, or a part of one, came. */
  public Next sample(EvaluationSampler.Sample sample, long now) {
    Asking asking = sample.asking();
    if (isCurrent(asking)) {
      return received(sample.next(), now);
    }
    if (sample.from() > 0) {
      return unchanged(); // The rest of a chunk that was answered or abandoned.
    }
    Optional<EvaluationReply> objection = objection(sample);
    if (objection.isPresent()) {
      return next(new SamplerAction.Answer(asking.asker(), objection.get()));
    }
    Next free = chunk.isEmpty() ? unchanged() : abandoned(); // The asker has given it up.
    Next taken =
        free.state
            .with(EvaluationChunk.first(sample))
            .next(
                new SamplerAction.Watch(asking.asker()),
                new SamplerAction.CancelTimer(new SamplerAction.Timer.Idle()));
    return free.then(taken).then(taken.state.received(sample.next(), now));
  }

  private Optional<EvaluationReply> objection(EvaluationSampler.Sample sample) {
    if (terms.refusal().isPresent()) {
      return Optional.of(new EvaluationReply.Refused(sample.number(), terms.refusal().get()));
    }
    if (!sample.weights().run().equals(terms.run())) {
      return Optional.of(
          new EvaluationReply.Refused(
              sample.number(),
              "worker %s works for run %s, and not for %s"
                  .formatted(terms.worker(), terms.run(), sample.weights().run())));
    }
    return chunk
        .filter(one -> !one.asking().asker().equals(sample.replyTo()))
        .map(_ -> new EvaluationReply.Busy(sample.number()));
  }

  private Next received(List<EvaluationRequest> more, long now) {
    SamplerState received = with(chunk.orElseThrow().with(more));
    return received.chunk.orElseThrow().whole() ? received.begin(now) : received.unchanged();
  }

  private Next begin(long now) {
    EvaluationChunk begun = chunk.orElseThrow().movedAt(0, now);
    Next working = with(begun).working();
    if (held.filter(one -> one.has(begun.weights().weights())).isPresent()) {
      return working.then(working.state.beginSampling());
    }
    Next closed = working.state.closed();
    return working
        .then(closed)
        .then(closed.state.next(new SamplerAction.Fetch(begun.asking(), begun.weights())));
  }

  /** Sampling of the chunk begins, on the engine that is held. */
  private Next beginSampling() {
    EvaluationChunk begun = chunk.orElseThrow();
    List<LeaseId> own = new ArrayList<>();
    List<SampleRequest> requests = new ArrayList<>();
    for (EvaluationRequest request : begun.requests()) {
      LeaseId lease = new LeaseId(new GroupId(leases + own.size() + 1), 1);
      own.add(lease);
      requests.add(request.under(lease));
    }
    return new SamplerState(terms, Optional.of(begun.under(own)), held, leases + own.size())
        .next(new SamplerAction.Sample(begun.asking(), held.orElseThrow().engine(), requests));
  }

  /** Gives a chunk up that the asker does not want any more. */
  public Next abandon(Asking asking) {
    return isCurrent(asking) ? abandoned() : unchanged();
  }

  /** A process that asks is gone. */
  public Next lost(ActorRef<EvaluationReply> asker) {
    return chunk.filter(one -> one.asking().asker().equals(asker)).isPresent()
        ? abandoned()
        : unchanged();
  }

  /** The weights of a chunk are here. */
  public Next fetched(Asking asking, WeightSnapshot weights) {
    return isCurrent(asking) ? next(new SamplerAction.Open(weights)) : unchanged();
  }

  /** An engine was made, and loads the weights; the requests wait for them there. */
  public Next opened(WeightSnapshot weights, SamplingEngine engine) {
    return new SamplerState(
            terms,
            chunk,
            Optional.of(new Held(weights.version(), weights.digest(), engine)),
            leases)
        .beginSampling();
  }

  /** The weights of a chunk are not here. */
  public Next fetchFailed(Asking asking, Throwable cause) {
    return isCurrent(asking)
        ? failed(
            said("has not got the weights", cause),
            FailureCause.of(cause) instanceof UnfitWeightsException)
        : unchanged();
  }

  /** Also a later chunk of the same weights fails: its requests would wait for ever. */
  public Next loadFailed(SamplingEngine engine, Throwable cause) {
    return engineFailed(
        engine,
        said("cannot load the weights", cause),
        FailureCause.of(cause) instanceof IllegalArgumentException);
  }

  /** An engine serves no longer. */
  public Next engineLost(SamplingEngine engine, String reason) {
    return engineFailed(
        engine, "the engine of worker %s failed: %s".formatted(terms.worker(), reason), false);
  }

  private Next engineFailed(SamplingEngine engine, String reason, boolean forGood) {
    if (!held.map(Held::engine).equals(Optional.of(engine))) {
      return unchanged();
    }
    Next closed = closed();
    return chunk.isEmpty() ? closed : closed.then(closed.state.failed(reason, forGood));
  }

  /** A request has its completions. */
  public Next answered(Asking asking, int request, List<Completion> completions) {
    return isCurrent(asking)
        ? answeredOne(
            MessageParts.of(completions).stream()
                .<EvaluationReply>map(
                    part ->
                        new EvaluationReply.Sampled(
                            asking.number(),
                            request,
                            part,
                            chunk.orElseThrow().weights().weights().digest()))
                .toList())
        : unchanged();
  }

  /** A request has none. */
  public Next notAnswered(Asking asking, int request, Throwable failure) {
    if (!isCurrent(asking)) {
      return unchanged();
    }
    Throwable cause = FailureCause.of(failure);
    if (cause instanceof RequestRefusedException) {
      return answeredOne(
          List.of(
              new EvaluationReply.Unanswerable(
                  asking.number(), request, String.valueOf(cause.getMessage()))));
    }
    Next closed = closed();
    return closed.then(closed.state.failed(said("did not sample", failure), false));
  }

  private Next answeredOne(List<EvaluationReply> replies) {
    EvaluationChunk now = chunk.orElseThrow().answeredOne();
    Next told =
        new Next(
            with(now),
            replies.stream()
                .<SamplerAction>map(reply -> new SamplerAction.Answer(now.asking().asker(), reply))
                .toList());
    return now.over() ? told.then(told.state.ended()) : told;
  }

  /**
   * The next sign of life is due.
   *
   * @param tokens that the engine which is held has sampled so far; 0 without one
   */
  public Next signDue(long tokens, long now) {
    if (chunk.isEmpty()) {
      return unchanged();
    }
    EvaluationChunk one = chunk.get();
    long progress = tokens + one.answered();
    if (progress != one.progress() || held.isEmpty()) {
      return with(one.movedAt(progress, now)).working();
    }
    if (now - one.progressAt() < terms.patience().toNanos()) {
      return working();
    }
    Next closed = closed();
    return closed.then(
        closed.state.failed(
            "the engine of worker %s has sampled no token for %s"
                .formatted(terms.worker(), TimeText.of(terms.patience().toMillis())),
            false));
  }

  /** No chunk came for a while. */
  public Next idleTimeElapsed() {
    return chunk.isEmpty() ? closed() : unchanged();
  }

  private Next working() {
    Asking asking = chunk.orElseThrow().asking();
    return next(
        new SamplerAction.Answer(asking.asker(), new EvaluationReply.Working(asking.number())),
        new SamplerAction.Schedule(new SamplerAction.Timer.Sign(), SIGN_EVERY));
  }

  /** The chunk ends with a reason. */
  private Next failed(String reason, boolean forGood) {
    Asking asking = chunk.orElseThrow().asking();
    Next told =
        next(
            new SamplerAction.Answer(
                asking.asker(),
                forGood
                    ? new EvaluationReply.Refused(asking.number(), reason)
                    : new EvaluationReply.Failed(asking.number(), reason)));
    return told.then(ended());
  }

  private Next abandoned() {
    List<LeaseId> open = chunk.orElseThrow().leases();
    Next cancelled =
        held.isEmpty() || open.isEmpty()
            ? unchanged()
            : next(new SamplerAction.Cancel(held.get().engine(), open));
    return cancelled.then(ended());
  }

  private Next ended() {
    return new SamplerState(terms, Optional.empty(), held, leases)
        .next(
            new SamplerAction.Unwatch(chunk.orElseThrow().asking().asker()),
            new SamplerAction.CancelTimer(new SamplerAction.Timer.Sign()),
            new SamplerAction.Schedule(new SamplerAction.Timer.Idle(), terms.idle()));
  }

  /** The engine that is held, if any, is closed. */
  public Next closed() {
    return new Next(
        new SamplerState(terms, chunk, Optional.empty(), leases),
        held.<List<SamplerAction>>map(one -> List.of(new SamplerAction.Close(one.engine())))
            .orElse(List.of()));
  }

  private String said(String what, Throwable cause) {
    return "worker %s %s: %s".formatted(terms.worker(), what, FailureCause.message(cause));
  }

  private boolean isCurrent(Asking asking) {
    return chunk.map(EvaluationChunk::asking).equals(Optional.of(asking));
  }

  private SamplerState with(EvaluationChunk other) {
    return new SamplerState(terms, Optional.of(other), held, leases);
  }

  private Next unchanged() {
    return next();
  }

  private Next next(SamplerAction... actions) {
    return new Next(this, List.of(actions));
  }
}
