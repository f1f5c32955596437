package io.troupe.runtime;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.Toys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A toy engine with the behaviour that a test asks for. */
public class Sampler implements SamplingEngine {
  final SamplingEngine toy = Toys.policy().newSampler();
  final CompletableFuture<String> lost = new CompletableFuture<>();
  final CompletableFuture<Void> closed = new CompletableFuture<>();

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    return toy.sample(requests);
  }

  /** Stages that never complete, one a request. */
  public static List<CompletionStage<List<Completion>>> silence(List<SampleRequest> requests) {
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    requests.forEach(_ -> stages.add(new CompletableFuture<>()));
    return stages;
  }

  /** Fails as an engine does that serves no longer. */
  public void lose(String reason) {
    lost.complete(reason);
  }

  /** Completes when the engine is closed. */
  public CompletableFuture<Void> closed() {
    return closed;
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    return toy.load(weights);
  }

  @Override
  public void cancel(LeaseId lease) {
    toy.cancel(lease);
  }

  @Override
  public CompletionStage<String> failed() {
    return lost;
  }

  @Override
  public void close() {
    toy.close();
    closed.complete(null);
  }
}
