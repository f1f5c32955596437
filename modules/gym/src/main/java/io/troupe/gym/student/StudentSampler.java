package io.troupe.gym.student;

import io.troupe.chat.TurnEnd;
import io.troupe.core.SplitMix64;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Samples the responses of a student, some hundred prompts at a time. */
final class StudentSampler {
  private static final int CHUNK = 512;

  private final PolicyEngines engines;
  private final int maxTokens;
  private final TurnEnd end;
  private long requests;

  /**
   * A sampler.
   *
   * @param end of answers, beside the checkpoint's own
   */
  StudentSampler(PolicyEngines engines, int maxTokens, TurnEnd end) {
    this.engines = engines;
    this.maxTokens = maxTokens;
    this.end = end;
  }

  /**
   * Samples.
   *
   * @param prompts as the student reads them, templates applied
   * @param samples of each prompt; one is greedy, more are sampled at temperature 1
   * @return the responses of each prompt, in the order of the prompts
   */
  List<List<String>> responses(
      WeightSnapshot weights, List<String> prompts, int samples, long seed) {
    SamplingSettings sampling =
        new SamplingSettings(samples == 1 ? 0 : 1, maxTokens)
            .within(0, end.stops())
            .stoppingAt(end.stopIds());
    List<List<String>> responses = new ArrayList<>();
    try (SamplingEngine sampler = engines.newSampler()) {
      sampler.load(weights).toCompletableFuture().join();
      for (int from = 0; from < prompts.size(); from += CHUNK) {
        List<String> some = prompts.subList(from, Math.min(prompts.size(), from + CHUNK));
        List<SampleRequest> asked = new ArrayList<>();
        for (int i = 0; i < some.size(); i++) {
          asked.add(
              new SampleRequest(
                  new LeaseId(new GroupId(++requests), 1),
                  engines.tokenizer().encodeWithSpecial(some.get(i)),
                  samples,
                  sampling,
                  SplitMix64.mix(seed + from + i)));
        }
        for (CompletionStage<List<Completion>> each : sampler.sample(asked)) {
          responses.add(
              each.toCompletableFuture().join().stream()
                  .map(completion -> engines.tokenizer().decode(completion.tokens()))
                  .map(response -> StopMatcher.cut(response, end.stops()))
                  .toList());
        }
      }
    }
    return responses;
  }
}
