package io.troupe.runtime.evaluation;

import akka.actor.typed.ActorRef;
import io.troupe.core.rollout.LeaseId;
import java.util.List;
import java.util.stream.Stream;

/**
 * A chunk of an evaluation at work.
 *
 * @param size number of requests of the chunk
 * @param requests that came so far
 * @param leases that its requests are sampled under; none before
 * @param answered requests
 * @param progress of its engine and its answers, when it last moved
 * @param progressAt time of the last progress
 */
public record EvaluationChunk(
    Asking asking,
    EvaluatedWeights weights,
    int size,
    List<EvaluationRequest> requests,
    List<LeaseId> leases,
    int answered,
    long progress,
    long progressAt) {
  /** One asking for a chunk; its number is unique for the process that asks. */
  public record Asking(ActorRef<EvaluationReply> asker, long number) {}

  public EvaluationChunk {
    requests = List.copyOf(requests);
    leases = List.copyOf(leases);
  }

  static EvaluationChunk first(EvaluationSampler.Sample sample) {
    return new EvaluationChunk(
        sample.asking(), sample.weights(), sample.requests(), List.of(), List.of(), 0, 0, 0);
  }

  boolean whole() {
    return requests.size() >= size;
  }

  boolean over() {
    return answered == requests.size();
  }

  EvaluationChunk with(List<EvaluationRequest> more) {
    return new EvaluationChunk(
        asking,
        weights,
        size,
        Stream.concat(requests.stream(), more.stream()).toList(),
        leases,
        answered,
        progress,
        progressAt);
  }

  EvaluationChunk under(List<LeaseId> own) {
    return new EvaluationChunk(
        asking, weights, size, requests, own, answered, progress, progressAt);
  }

  EvaluationChunk answeredOne() {
    return new EvaluationChunk(
        asking, weights, size, requests, leases, answered + 1, progress, progressAt);
  }

  EvaluationChunk movedAt(long moved, long now) {
    return new EvaluationChunk(asking, weights, size, requests, leases, answered, moved, now);
  }
}
