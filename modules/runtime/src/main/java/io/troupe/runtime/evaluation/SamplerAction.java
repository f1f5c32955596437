package io.troupe.runtime.evaluation;

import akka.actor.typed.ActorRef;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.evaluation.EvaluationChunk.Asking;
import java.time.Duration;
import java.util.List;

/** The action that an evaluation sampler takes once its state has decided. */
public sealed interface SamplerAction {
  /** Answer a process. */
  record Answer(ActorRef<EvaluationReply> asker, EvaluationReply reply) implements SamplerAction {}

  /** Notice when a process is gone. */
  record Watch(ActorRef<EvaluationReply> asker) implements SamplerAction {}

  /** No longer notice it. */
  record Unwatch(ActorRef<EvaluationReply> asker) implements SamplerAction {}

  /** Fetch the weights of a chunk. */
  record Fetch(Asking asking, EvaluatedWeights weights) implements SamplerAction {}

  /** Make an engine for weights, and load them. */
  record Open(WeightSnapshot weights) implements SamplerAction {}

  /** Sample the requests of a chunk. */
  record Sample(Asking asking, SamplingEngine engine, List<SampleRequest> requests)
      implements SamplerAction {}

  /** Stop sampling under leases. */
  record Cancel(SamplingEngine engine, List<LeaseId> leases) implements SamplerAction {}

  /** Close an engine. */
  record Close(SamplingEngine engine) implements SamplerAction {}

  /** Start a timer. */
  record Schedule(Timer timer, Duration pause) implements SamplerAction {}

  /** Stop a timer, if it runs. */
  record CancelTimer(Timer timer) implements SamplerAction {}

  /** The timers of a sampler. */
  sealed interface Timer {
    /** The next sign of life of the chunk at work. */
    record Sign() implements Timer {}

    /** The end of an engine that has no chunk. */
    record Idle() implements Timer {}
  }
}
