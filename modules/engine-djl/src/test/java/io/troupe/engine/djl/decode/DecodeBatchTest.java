package io.troupe.engine.djl.decode;

import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cache of a decode batch, driven as the sampler's thread drives it. */
final class DecodeBatchTest {
  private static final DecoderSettings LONG =
      new DecoderSettings(8, 2, 4, 2, 4, 12, 150, 10_000, 1e-6, true, .5);
  private static final long BUDGET = 700;
  private static final ComputeSettings COMPUTE =
      ComputeSettings.of(1, 1, 256).withCache(BUDGET, KvOnSwap.KEEP);

  static IntStream seeds() {
    return IntStream.range(0, 4);
  }

  private static WeightSnapshot weights(long seed) {
    try (TrainingEngine trainer = Fixtures.policy(LONG).newTrainer(seed)) {
      return trainer.snapshot(new WeightVersion(seed));
    }
  }

  private static SampleRequest request(Random random, int group) {
    int[] prompt = Fixtures.tokens(random, 1 + random.nextInt(40));
    SamplingSettings settings = new SamplingSettings(2, 1 + random.nextInt(80));
    return new SampleRequest(Fixtures.lease(group), prompt, 1 + random.nextInt(4), settings, group);
  }

  /**
   * Random arrivals, cancellations and swaps: the budget holds after every step, everything ends,
   * nothing is left, and what one version sampled is what the plain decoder makes of it, through
   * all moves, preemptions and readings.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void step_randomArrivalsCancelsAndSwaps_keepsBudgetAndLeaksNoSlot(int seed) {
    Torch.load();
    Torch.enter(1, false);
    Random random = new Random(seed);
    boolean swaps = seed % 2 == 1;
    WeightSnapshot first = weights(3);
    WeightSnapshot second = weights(4);
    List<SampleGroup> all = new ArrayList<>();
    Deque<SampleGroup> waiting = new ArrayDeque<>();
    long before = NativeTensor.live();
    boolean preempted = false;
    try (Decoder decoder = new Decoder(LONG, TOKENIZER.vocabularySize());
        DecodeWeights weights = new DecodeWeights(decoder);
        DecodeBatch batch = new DecodeBatch(decoder, weights, COMPUTE, new Endless())) {
      weights.load(first);
      for (int turn = 0; turn < 30 || !batch.isIdle() || !waiting.isEmpty(); turn++) {
        assertThat(turn).as("turns until all is done").isLessThan(3000);
        if (turn < 30 && random.nextInt(3) == 0) {
          SampleGroup group = new SampleGroup(request(random, all.size() + 1));
          all.add(group);
          waiting.add(group);
        }
        if (!all.isEmpty() && random.nextInt(20) == 0) {
          SampleGroup victim = all.get(random.nextInt(all.size()));
          victim.fail(new CancellationException());
          waiting.remove(victim);
        }
        if (swaps && random.nextInt(25) == 0) {
          weights.load(random.nextBoolean() ? first : second);
          batch.recompute();
        }
        batch.prepare();
        batch.admit(waiting, WeightVersion.BASE);
        assertThat(batch.reserved()).isLessThanOrEqualTo(BUDGET);
        batch.step(WeightVersion.BASE);
        preempted |= batch.preempted() > 0;
      }
      assertThat(batch.reserved()).isZero();
      assertThat(batch.preempted()).isZero();
      assertThat(batch.capacity()).isLessThanOrEqualTo(16 * (32 + 64 + 128 + 150));
    }
    assertThat(NativeTensor.live()).isEqualTo(before);
    assertThat(all).allMatch(SampleGroup::done);
    assertThat(preempted).as("the budget was short at times").isTrue();
    if (!swaps) {
      checkAgainstPlainDecoder(all, first);
    }
  }

  private static void checkAgainstPlainDecoder(List<SampleGroup> all, WeightSnapshot weights) {
    ReferenceDecoder decoder =
        new ReferenceDecoder(LONG, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    for (SampleGroup group : all) {
      if (group.result().isCompletedExceptionally()) {
        continue;
      }
      Completion c = group.result().join().getFirst();
      double[] expected = decoder.logProbs(group.request().prompt(), c.tokens(), 2);
      for (int t = 0; t < c.length(); t++) {
        assertThat((double) c.logProbs()[t]).isCloseTo(expected[t], within(1e-4));
      }
    }
  }

  @Test
  void recompute_afterASwap_equalsAFreshForwardWithTheNewWeightsAndKeepDoesNot() {
    Torch.load();
    Torch.enter(1, false);
    assertThat(gapToNewWeights(true)).isLessThan(1e-4);
    assertThat(gapToNewWeights(false)).isGreaterThan(1e-3);
  }

  /** Largest difference of tokens after a swap to the plain decoder with the new weights. */
  private static double gapToNewWeights(boolean recompute) {
    WeightSnapshot first = weights(3);
    WeightSnapshot second = weights(4);
    int[] prompt = TOKENIZER.encode("12+34=");
    int swapAt = 20;
    SampleGroup group =
        new SampleGroup(
            new SampleRequest(Fixtures.lease(1), prompt, 4, new SamplingSettings(3, 60), 5));
    try (Decoder decoder = new Decoder(LONG, TOKENIZER.vocabularySize());
        DecodeWeights weights = new DecodeWeights(decoder);
        DecodeBatch batch = new DecodeBatch(decoder, weights, COMPUTE, new Endless())) {
      weights.load(first);
      batch.admit(new ArrayDeque<>(List.of(group)), WeightVersion.BASE);
      for (int token = 1; !batch.isIdle(); token++) {
        if (token == swapAt) {
          weights.load(second);
          if (recompute) {
            batch.recompute();
          }
        }
        batch.prepare();
        batch.step(WeightVersion.BASE);
      }
    }
    ReferenceDecoder fresh =
        new ReferenceDecoder(LONG, TOKENIZER.vocabularySize(), Fixtures.numbers(second.tensors()));
    double gap = 0;
    for (Completion c : group.result().join()) {
      double[] expected = fresh.logProbs(prompt, c.tokens(), 3);
      for (int t = swapAt; t < c.length(); t++) {
        gap = Math.max(gap, Math.abs(c.logProbs()[t] - expected[t]));
      }
    }
    assertThat(Arrays.stream(group.result().join().toArray(Completion[]::new)))
        .anyMatch(c -> c.length() > swapAt);
    return gap;
  }

  /**
   * A tokenizer with the same ids, of which none ends a completion: all become as long as they may.
   */
  private record Endless() implements Tokenizer {
    @Override
    public int[] encode(String text) {
      return TOKENIZER.encode(text);
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      return TOKENIZER.encode(text);
    }

    @Override
    public String decode(int[] tokens) {
      return TOKENIZER.decode(tokens);
    }

    @Override
    public byte[] bytes(int token) {
      return TOKENIZER.bytes(token);
    }

    @Override
    public int vocabularySize() {
      return TOKENIZER.vocabularySize();
    }

    @Override
    public int endOfSequence() {
      return TOKENIZER.endOfSequence();
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of();
    }
  }
}
