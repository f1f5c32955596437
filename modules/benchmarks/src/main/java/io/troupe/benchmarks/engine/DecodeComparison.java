package io.troupe.benchmarks.engine;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.benchmarks.harness.PerformancePage;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;

/**
 * Tokens a second of sampling, log-probabilities included.
 *
 * <p>Uniform: all completions are equally long, and one static batch is the best there is.
 * GRPO-shaped: eight completions for each of 64 prompts whose lengths are log-normal; the static
 * side decodes as many groups at a time as its cache holds padded to the context, each batch to its
 * longest completion; ours admits what fits the same number of cached tokens.
 */
final class DecodeComparison implements PyTorchComparison {
  private static final int PROMPT = 8;
  private static final long SEED = 1;

  /** A burst of equal completions: {@code times} batches of {@code rows}, {@code tokens} each. */
  private record Uniform(ModelSize size, int context, int rows, int tokens, int times, double bar) {
    String name() {
      return "decode, %s, batch %d".formatted(size.label(), rows);
    }
  }

  /** Groups of unequal completions under a budget of cached tokens. */
  private record Grpo(
      ModelSize size, int context, int prompt, double median, int cachedRows, double bar) {
    static final int PROMPTS = 64;
    static final int EACH = 8;
    static final double SIGMA = 1;

    String name() {
      return "decode, %s, %d prompts × %d, log-normal lengths"
          .formatted(size.label(), PROMPTS, EACH);
    }

    /** Lengths in tokens, a group after the other. */
    int[] lengths() {
      Random random = new Random(SEED);
      int[] lengths = new int[PROMPTS * EACH];
      Arrays.setAll(
          lengths,
          _ -> {
            double drawn = median * Math.exp(SIGMA * random.nextGaussian());
            return Math.clamp(Math.round(drawn), 1, context - prompt);
          });
      return lengths;
    }
  }

  private static final List<Uniform> UNIFORM =
      List.of(
          new Uniform(ModelSize.TINY, 64, 1, 56, 6, 1),
          new Uniform(ModelSize.TINY, 64, 32, 56, 3, 1),
          new Uniform(ModelSize.TINY, 64, 256, 56, 1, 1),
          new Uniform(ModelSize.SMALL, 256, 1, 64, 1, 1),
          new Uniform(ModelSize.SMALL, 256, 32, 24, 1, 1),
          new Uniform(ModelSize.SMALL, 256, 256, 8, 1, 1));

  private static final List<Grpo> GRPO = List.of(new Grpo(ModelSize.TINY, 256, 16, 32, 64, 2));

  @Override
  public List<PairedMeasurement> run(Setting setting) throws IOException {
    List<PairedMeasurement> results = new ArrayList<>();
    for (Uniform work : UNIFORM) {
      results.add(uniform(work, setting));
    }
    for (Grpo work : GRPO) {
      results.add(grpo(work, setting));
    }
    return results;
  }

  private static PairedMeasurement uniform(Uniform work, Setting setting) throws IOException {
    System.err.println(work.name());
    int[][] prompts = prompts(work.size(), work.rows(), PROMPT);
    SamplingSettings settings = new SamplingSettings(1, work.tokens());
    List<List<Integer>> batches = new ArrayList<>();
    for (int i = 0; i < work.times(); i++) {
      batches.add(List.of(0, work.rows(), work.tokens()));
    }
    Map<String, Object> request = Map.of("prompts", prompts, "each", 1, "batches", batches);
    long tokens = (long) work.times() * work.rows() * work.tokens();
    try (Ours ours = new Ours(work.size(), work.context(), Long.MAX_VALUE, setting)) {
      return rounds(
          work.name(),
          tokens,
          work.bar(),
          setting,
          request,
          () -> {
            for (int i = 0; i < work.times(); i++) {
              ours.sample(Arrays.stream(prompts).toList(), _ -> settings);
            }
          });
    }
  }

  private static PairedMeasurement grpo(Grpo work, Setting setting) throws IOException {
    System.err.println(work.name());
    int[][] prompts = prompts(work.size(), Grpo.PROMPTS, work.prompt());
    int[] lengths = work.lengths();
    List<int[]> ofCompletions = new ArrayList<>();
    for (int i = 0; i < lengths.length; i++) {
      ofCompletions.add(prompts[i / Grpo.EACH]);
    }
    List<List<Integer>> batches = new ArrayList<>();
    int groups = work.cachedRows() / Grpo.EACH;
    for (int first = 0; first < Grpo.PROMPTS; first += groups) {
      int longest =
          Arrays.stream(lengths, first * Grpo.EACH, (first + groups) * Grpo.EACH)
              .max()
              .orElseThrow();
      batches.add(List.of(first, groups, longest));
    }
    Map<String, Object> request = Map.of("prompts", prompts, "each", Grpo.EACH, "batches", batches);
    try (Ours ours =
        new Ours(work.size(), work.context(), (long) work.cachedRows() * work.context(), setting)) {
      return rounds(
          work.name(),
          Arrays.stream(lengths).sum(),
          work.bar(),
          setting,
          request,
          () -> ours.sample(ofCompletions, i -> new SamplingSettings(1, lengths[i])));
    }
  }

  /** Bursts in turn, after one of each that does not count; results in tokens a second. */
  private static PairedMeasurement rounds(
      String name,
      long tokens,
      double bar,
      Setting setting,
      Map<String, Object> request,
      Runnable burst)
      throws IOException {
    List<Double> ours = new ArrayList<>();
    List<Double> theirs = new ArrayList<>();
    for (int round = -1; round < setting.rounds(); round++) {
      long start = System.nanoTime();
      burst.run();
      double seconds = (System.nanoTime() - start) / 1e9;
      if (round >= 0) {
        ours.add(tokens / seconds);
      }
      if (setting.python().present()) {
        JsonNode answer = setting.python().call("decode", request);
        if (round >= 0) {
          theirs.add(tokens / answer.required("seconds").asDouble());
        }
      }
    }
    PairedMeasurement measured = new PairedMeasurement(name, "tokens/s", ours, theirs, bar, true);
    System.err.printf(
        Locale.ROOT,
        "  ours %s, PyTorch %s, ratio %s%n",
        PerformancePage.number(measured.ourMedian()),
        PerformancePage.number(measured.theirMedian()),
        PerformancePage.number(measured.ratio()));
    return measured;
  }

  private static int[][] prompts(ModelSize size, int count, int length) {
    Random random = new Random(SEED);
    int[][] prompts = new int[count][length];
    for (int[] prompt : prompts) {
      Arrays.setAll(prompt, _ -> 2 + random.nextInt(size.vocabulary() - 2));
    }
    return prompts;
  }

  /** A sampler of ours, whose weights the Python side holds too. */
  private static final class Ours implements AutoCloseable {
    private static final double PARITY = 1e-3;

    private final DjlPolicy policy;
    private final SamplingEngine sampler;
    private long leases;

    Ours(ModelSize size, int context, long cachedTokens, Setting setting) throws IOException {
      DecoderSettings settings = size.settings(context);
      this.policy =
          DjlPolicy.create(
              settings,
              size.tokenizer(),
              ComputeSettings.of(setting.threads(), setting.threads(), 1 << 14)
                  .withCache(cachedTokens, KvOnSwap.KEEP));
      WeightSnapshot weights = NeverEndingWeights.endless(policy, SEED);
      this.sampler = policy.newSampler();
      sampler.load(weights).toCompletableFuture().join();
      if (setting.python().present()) {
        Path file = setting.scratch().resolve("%s.safetensors".formatted(size.label()));
        NeverEndingWeights.write(weights, file);
        setting
            .python()
            .call("load", Map.of("weights", file.toString(), "sizes", size.sizes(context)));
        requireParity(size, setting.python());
      }
    }

    /** Samples a completion for each prompt and waits for all. */
    List<Completion> sample(List<int[]> prompts, IntFunction<SamplingSettings> settings) {
      List<SampleRequest> requests = new ArrayList<>();
      for (int i = 0; i < prompts.size(); i++) {
        LeaseId lease = new LeaseId(new GroupId(++leases), 1);
        requests.add(new SampleRequest(lease, prompts.get(i), 1, settings.apply(i), leases));
      }
      List<Completion> completions = new ArrayList<>();
      for (CompletionStage<List<Completion>> stage : sampler.sample(requests)) {
        completions.addAll(stage.toCompletableFuture().join());
      }
      return completions;
    }

    /** Both sides must give our tokens the same log-probabilities, or they are not one policy. */
    private void requireParity(ModelSize size, PythonPeer python) throws IOException {
      int[] prompt = prompts(size, 1, PROMPT)[0];
      Completion drawn = sample(List.of(prompt), _ -> new SamplingSettings(1, 16)).getFirst();
      List<Integer> ids = new ArrayList<>();
      Arrays.stream(prompt).forEach(ids::add);
      Arrays.stream(drawn.tokens()).forEach(ids::add);
      JsonNode scores = python.call("log_probs", Map.of("ids", ids)).required("log_probs");
      for (int t = 0; t < drawn.length(); t++) {
        double theirs = scores.path(PROMPT - 1 + t).asDouble();
        require(
            Math.abs(drawn.logProbs()[t] - theirs) < PARITY,
            "token %d has log-probability %s here and %s in Python: not the same policy",
            t,
            drawn.logProbs()[t],
            theirs);
      }
    }

    @Override
    public void close() {
      sampler.close();
      policy.close();
    }
  }
}
