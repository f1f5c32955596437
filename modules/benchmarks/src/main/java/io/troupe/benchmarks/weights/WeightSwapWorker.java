package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.benchmarks.engine.ModelSize;
import io.troupe.benchmarks.engine.TrainCase;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.WeightCache;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Samples without end and moves to mapped weights meanwhile. Arguments are a cache's directory and
 * how often to move. Prints, for each time, the longest that no token came at all, in milliseconds:
 * the gap between two tokens in which the weights moved, and for comparison a gap without a move.
 */
final class WeightSwapWorker {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int CONTEXT = 256;
  private static final int PROMPT = 8;
  private static final int COMPLETIONS = 8;
  private static final int MICRO_BATCH_TOKENS = 512;
  private static final int WARM_UP = 20;
  private static final int TOKENS_BETWEEN = 16;
  private static final double MILLION = 1e6;

  private final SamplingEngine sampler;
  private final Gaps gaps = new Gaps();
  private final AtomicLong leases = new AtomicLong();
  private volatile boolean over;

  private WeightSwapWorker(SamplingEngine sampler) {
    this.sampler = sampler;
  }

  /** The times between tokens; called from the engine's thread only, read from another. */
  private static final class Gaps {
    private long last = System.nanoTime();
    private long longest;
    private long count;

    synchronized void token() {
      long now = System.nanoTime();
      longest = Math.max(longest, now - last);
      last = now;
      count++;
      notifyAll();
    }

    /** The longest gap since the last call. */
    synchronized double take() {
      double gap = longest / MILLION;
      longest = 0;
      return gap;
    }

    synchronized void awaitMore(long tokens) throws InterruptedException {
      long until = count + tokens;
      while (count < until) {
        wait();
      }
    }
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    DjlPolicy policy =
        DjlPolicy.create(
            ModelSize.TINY.settings(CONTEXT),
            ModelSize.TINY.tokenizer(),
            ComputeSettings.of(1, 1, MICRO_BATCH_TOKENS));
    try (TrainingEngine trainer = policy.newTrainer(TrainCase.SEED);
        SamplingEngine sampler = policy.newSampler();
        WeightCache cache = WeightCache.open(TransferNode.cache(Path.of(arguments[0])))) {
      new WeightSwapWorker(sampler).measure(trainer, cache, Integer.parseInt(arguments[1]));
    }
    policy.close();
  }

  private void measure(TrainingEngine trainer, WeightCache cache, int moves)
      throws IOException, InterruptedException {
    sampler.load(trainer.snapshot(WeightVersion.BASE)).toCompletableFuture().join();
    sample();
    double[] moving = new double[moves];
    double[] still = new double[moves];
    for (int i = -WARM_UP; i < moves; i++) {
      CachedVersion version =
          cache.publish(trainer.snapshot(new WeightVersion(WARM_UP + i + 1)), List.of(), DType.F32);
      gaps.awaitMore(TOKENS_BETWEEN);
      gaps.take();
      gaps.awaitMore(TOKENS_BETWEEN);
      double without = gaps.take();
      WeightSnapshot mapped = version.map();
      sampler.load(mapped).toCompletableFuture().join();
      gaps.awaitMore(TOKENS_BETWEEN);
      double with = gaps.take();
      if (i >= 0) {
        moving[i] = with;
        still[i] = without;
      }
    }
    over = true;
    System.out.println(
        JSON.writeValueAsString(
            Map.of(
                "moving_ms",
                Arrays.stream(moving).boxed().toList(),
                "still_ms",
                Arrays.stream(still).boxed().toList())));
  }

  /** Starts a group; when it ends, the next. */
  private void sample() {
    int[] prompt = IntStream.range(2, 2 + PROMPT).toArray();
    SampleRequest request =
        new SampleRequest(
            new LeaseId(new GroupId(leases.incrementAndGet()), 1),
            prompt,
            COMPLETIONS,
            new SamplingSettings(1, CONTEXT - PROMPT),
            leases.get(),
            (_, _, _, _) -> gaps.token());
    sampler
        .sample(List.of(request))
        .getFirst()
        .whenComplete(
            (_, failure) -> {
              if (failure == null && !over) {
                sample();
              }
            });
  }
}
