package io.troupe.engine.djl.decode;

import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.CompletionDigest;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups that were sampled beside others, while weights changed, are sampled again alone. */
final class DjlGroupReplayTest {
  private static final DecoderSettings SETTINGS =
      new DecoderSettings(48, 2, 4, 2, 12, 96, 160, 10_000, 1e-6, true, .3);
  private static final int GROUPS = 10;
  private static final int TOKENS_A_VERSION = 60;
  private static final int VERSIONS = 6;

  @ParameterizedTest
  @CsvSource({
    "1, KEEP, 9223372036854775807, 1",
    "2, RECOMPUTE, 9223372036854775807, 2",
    "3, KEEP, 960, 1",
    "3, RECOMPUTE, 960, 1"
  })
  void sample_recordedVersions_givesTheSameBits(
      long seed, KvOnSwap onSwap, long cacheTokens, int threads) {
    DjlPolicy policy =
        DjlPolicy.create(
            SETTINGS,
            TOKENIZER,
            ComputeSettings.of(1, threads, 1 << 10)
                .withBatchInvariance(true)
                .withCache(cacheTokens, onSwap));
    Map<WeightVersion, WeightSnapshot> weights = new HashMap<>();
    for (int v = 0; v < VERSIONS; v++) {
      try (TrainingEngine trainer = policy.newTrainer(seed + v)) {
        weights.put(new WeightVersion(v), trainer.snapshot(new WeightVersion(v)));
      }
    }
    List<SampleRequest> requests = Fixtures.requests(new Random(seed), GROUPS, 40);
    List<List<Completion>> recorded = sampled(policy, requests, weights);

    assertThat(recorded)
        .as("weights changed within completions")
        .anySatisfy(group -> assertThat(group).anyMatch(one -> one.versions().spans().size() > 1));
    assertThat(
            recorded.stream().flatMap(List::stream).anyMatch(one -> one.preemptedAt().length > 0))
        .as("a group lost its place in the cache")
        .isEqualTo(cacheTokens < Long.MAX_VALUE);
    try (GroupReplay replay = policy.newGroupReplay()) {
      for (int g = 0; g < GROUPS; g++) {
        List<Completion> group = recorded.get(g);
        List<GroupReplay.Replayed> again =
            replay.sample(
                requests.get(g),
                group.stream()
                    .map(
                        one ->
                            new GroupReplay.Recorded(
                                one.versions(), Arrays.stream(one.preemptedAt()).boxed().toList()))
                    .toList(),
                version -> Objects.requireNonNull(weights.get(version)));
        assertThat(again.stream().map(one -> CompletionDigest.of(one.whole().orElseThrow())))
            .as("group %d", g)
            .containsExactlyElementsOf(group.stream().map(CompletionDigest::of).toList());
      }
    }
  }

  /** Samples all groups together; the next version comes at regular intervals. */
  private static List<List<Completion>> sampled(
      DjlPolicy policy, List<SampleRequest> requests, Map<WeightVersion, WeightSnapshot> weights) {
    AtomicInteger tokens = new AtomicInteger();
    List<List<Completion>> completions = new ArrayList<>();
    try (SamplingEngine sampler = policy.newSampler()) {
      sampler.load(weight(weights, 0)).toCompletableFuture().join();
      List<SampleRequest> watched =
          requests.stream()
              .map(
                  request ->
                      request.withListener(
                          (_, _, _, _) -> {
                            int count = tokens.incrementAndGet();
                            int next = count / TOKENS_A_VERSION;
                            if (count % TOKENS_A_VERSION == 0 && next < VERSIONS) {
                              var _ = sampler.load(weight(weights, next));
                            }
                          }))
              .toList();
      for (CompletionStage<List<Completion>> stage : sampler.sample(watched)) {
        completions.add(stage.toCompletableFuture().join());
      }
    }
    return completions;
  }

  private static WeightSnapshot weight(Map<WeightVersion, WeightSnapshot> weights, int version) {
    return Objects.requireNonNull(weights.get(new WeightVersion(version)));
  }
}
