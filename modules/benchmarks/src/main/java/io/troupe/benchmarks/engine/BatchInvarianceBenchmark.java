package io.troupe.benchmarks.engine;

import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.benchmarks.harness.PerformancePage;
import io.troupe.benchmarks.harness.UpdateOption;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import java.io.IOException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench batch-invariance}: what batch-invariant decoding costs. */
@Command(
    name = "batch-invariance",
    mixinStandardHelpOptions = true,
    description = "Compares batch-invariant decoding with decoding in the shapes of the batch.")
public final class BatchInvarianceBenchmark implements Callable<Integer> {
  private static final int PROMPT = 8;
  private static final long SEED = 1;

  private record Work(ModelSize size, int context, int rows, int tokens) {
    String name() {
      return "decode, %s, %d rows of %d tokens".formatted(size.label(), rows, tokens);
    }
  }

  private static final List<Work> WORKS =
      List.of(
          new Work(ModelSize.TINY, 256, 1, 120),
          new Work(ModelSize.TINY, 256, 8, 120),
          new Work(ModelSize.TINY, 256, 64, 120),
          new Work(ModelSize.TINY, 256, 256, 120),
          new Work(ModelSize.SMALL, 256, 1, 60),
          new Work(ModelSize.SMALL, 256, 8, 60),
          new Work(ModelSize.SMALL, 256, 64, 24));

  @Option(
      names = "--rounds",
      description = "Pairs of bursts of a measurement, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Option(
      names = "--threads",
      description = "PyTorch threads of each side, default ${DEFAULT-VALUE}.")
  private int threads = 1;

  @Mixin private final UpdateOption update = new UpdateOption();

  @Override
  public Integer call() throws IOException {
    List<PairedMeasurement> results = new ArrayList<>();
    for (Work work : WORKS) {
      PairedMeasurement result = measured(work);
      results.add(result);
      System.out.printf(
          Locale.ROOT,
          "%-44s %11.0f %11.0f tokens/s  ratio %.2f%n",
          result.name(),
          result.ourMedian(),
          result.theirMedian(),
          result.ratio());
    }
    if (update.given()) {
      PerformancePage.update(
          "batch invariance",
          "%s, `troupe bench batch-invariance --rounds %d --threads %d`: batch-invariant beside the shapes of the batch, bursts in turn."
              .formatted(LocalDate.now(ZoneOffset.UTC), rounds, threads),
          "shapes of the batch",
          results);
    }
    return 0;
  }

  private PairedMeasurement measured(Work work) {
    List<Double> invariant = new ArrayList<>();
    List<Double> plain = new ArrayList<>();
    try (Side a = new Side(work, threads, true);
        Side b = new Side(work, threads, false)) {
      a.tokensPerSecond();
      b.tokensPerSecond();
      for (int round = 0; round < rounds; round++) {
        invariant.add(a.tokensPerSecond());
        plain.add(b.tokensPerSecond());
      }
    }
    return new PairedMeasurement(work.name(), "tokens/s", invariant, plain, Double.NaN, true);
  }

  /** A sampler with one of the two ways to decode. */
  private static final class Side implements AutoCloseable {
    private final Work work;
    private final DjlPolicy policy;
    private final SamplingEngine sampler;
    private final int[][] prompts;
    private long leases;

    Side(Work work, int threads, boolean invariant) {
      this.work = work;
      this.policy =
          DjlPolicy.create(
              work.size().settings(work.context()),
              work.size().tokenizer(),
              ComputeSettings.of(threads, threads, 1 << 14).withBatchInvariance(invariant));
      this.sampler = policy.newSampler();
      sampler.load(NeverEndingWeights.endless(policy, SEED)).toCompletableFuture().join();
      Random random = new Random(SEED);
      this.prompts = new int[work.rows()][PROMPT];
      for (int[] prompt : prompts) {
        Arrays.setAll(prompt, _ -> 2 + random.nextInt(work.size().vocabulary() - 2));
      }
    }

    double tokensPerSecond() {
      SamplingSettings settings = new SamplingSettings(1, work.tokens());
      long begin = System.nanoTime();
      List<SampleRequest> requests =
          IntStream.range(0, work.rows())
              .mapToObj(
                  i ->
                      new SampleRequest(
                          new LeaseId(new GroupId(++leases), 1), prompts[i], 1, settings, leases))
              .toList();
      sampler.sample(requests).forEach(stage -> stage.toCompletableFuture().join());
      double seconds = (System.nanoTime() - begin) / 1e9;
      return work.rows() * work.tokens() / seconds;
    }

    @Override
    public void close() {
      sampler.close();
      policy.close();
    }
  }
}
