package io.troupe.benchmarks.sidecar;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Samples at once, on the caller's thread: what is measured with it is all but the engine. */
final class InstantSampler implements SamplingEngine {
  private static final int TOKEN = 2;
  private static final float LOG_PROB = -1.5f;

  private volatile WeightVersion version = WeightVersion.BASE;

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    WeightVersion now = version;
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    for (SampleRequest request : requests) {
      int length = request.settings().maxTokens();
      List<Completion> drawn = new ArrayList<>();
      for (int c = 0; c < request.completions(); c++) {
        for (int t = 0; t < length; t++) {
          request.listener().sampled(c, TOKEN, LOG_PROB, now);
        }
        int[] tokens = new int[length];
        float[] logProbs = new float[length];
        Arrays.fill(tokens, TOKEN);
        Arrays.fill(logProbs, LOG_PROB);
        drawn.add(
            new Completion(
                tokens, logProbs, TokenVersions.uniform(now, length), FinishReason.LENGTH));
      }
      stages.add(CompletableFuture.completedStage(drawn));
    }
    return stages;
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    version = weights.version();
    return CompletableFuture.completedStage(version);
  }

  @Override
  public void cancel(LeaseId lease) {}

  @Override
  public void close() {}
}
