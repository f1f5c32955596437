package io.troupe.engine.djl.decode;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.engine.EngineException;
import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchOutOfMemoryException;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines whose calls fail as they do when memory runs out. */
final class MemoryShortageTest {
  private static final ComputeSettings COMPUTE = ComputeSettings.of(1, 1, 64);

  /** Fails the calls of a method that the given numbers tell, counted from 1. */
  private static Consumer<String> failing(String method, int... calls) {
    AtomicInteger count = new AtomicInteger();
    return called -> {
      int number = called.equals(method) ? count.incrementAndGet() : 0;
      if (Arrays.stream(calls).anyMatch(call -> call == number)) {
        throw new EngineException("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore");
      }
    };
  }

  private static DjlPolicy policy(Consumer<String> watcher) {
    return DjlPolicy.create(TINY, TOKENIZER, COMPUTE).withProgressWatch(watcher);
  }

  private static WeightSnapshot weights() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(3)) {
      return trainer.snapshot(new WeightVersion(0));
    }
  }

  private static List<String> sampled(Consumer<String> watcher) {
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      requests.add(request(i, "12+34=".substring(0, i), 4, 100 + i));
    }
    try (SamplingEngine sampler = policy(watcher).newSampler()) {
      sampler.load(weights()).toCompletableFuture().join();
      List<String> texts = new ArrayList<>();
      for (CompletionStage<List<Completion>> stage : sampler.sample(requests)) {
        for (Completion completion : stage.toCompletableFuture().join()) {
          texts.add(Arrays.toString(completion.tokens()));
        }
      }
      return texts;
    }
  }

  @ParameterizedTest
  @CsvSource({"prefill, 1", "caches, 1", "decode, 1", "decode, 3", "decode, 4"})
  void sample_memoryRunsOut_drawsTheSameTokens(String method, int call) {
    assertThat(sampled(failing(method, call))).isEqualTo(sampled(_ -> {}));
  }

  @Test
  void sample_memoryRunsOutAgainAndAgain_drawsTheSameTokens() {
    assertThat(sampled(failing("decode", 1, 4))).isEqualTo(sampled(_ -> {}));
  }

  @Test
  void sample_neverEnoughForAGroup_failsItAndSaysWhatToDo() {
    int[] decodes = IntStream.rangeClosed(1, DecodeBatch.TRIES).toArray();
    try (SamplingEngine sampler = policy(failing("decode", decodes)).newSampler()) {
      sampler.load(weights()).toCompletableFuture().join();
      CompletionStage<List<Completion>> stage =
          sampler.sample(List.of(request(1, "1", 2, 7))).getFirst();
      assertThatThrownBy(() -> stage.toCompletableFuture().join())
          .isInstanceOf(CompletionException.class)
          .hasMessageContaining("memory ran out 7 times in a row with nothing else in it")
          .hasMessageContaining("fewer or shorter completions");
      assertThat(sampler.sample(List.of(request(2, "1", 2, 7))).getFirst().toCompletableFuture())
          .succeedsWithin(Duration.ofMinutes(1));
      assertThat(sampler.failed().toCompletableFuture()).isNotDone();
    }
  }

  @Test
  void sample_neverEnoughForOneGroupAfterAnother_isLost() {
    Consumer<String> never =
        called -> {
          if (called.equals("prefill")) {
            throw new EngineException("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling x");
          }
        };
    try (SamplingEngine sampler = policy(never).newSampler()) {
      sampler.load(weights()).toCompletableFuture().join();
      List<CompletionStage<List<Completion>>> stages =
          sampler.sample(List.of(request(1, "1", 2, 7), request(2, "2", 2, 7)));
      for (CompletionStage<List<Completion>> stage : stages) {
        assertThatThrownBy(() -> stage.toCompletableFuture().join())
            .hasMessageContaining("memory ran out");
      }
      assertThat(sampler.failed().toCompletableFuture().join()).contains("memory ran out");
    }
  }

  /**
   * The memory that one shortage takes away comes back, and never was less than a request needs.
   */
  @Test
  void sample_afterAShortage_takesTheLargestRequestAndTheBudgetGrowsBack() {
    Torch.load();
    Torch.enter(1, false);
    ComputeSettings compute = COMPUTE.withCache(64, ComputeSettings.KvOnSwap.KEEP);
    AtomicInteger decodes = new AtomicInteger();
    Consumer<String> once =
        called -> {
          if (called.equals("decode") && decodes.incrementAndGet() == 1) {
            throw new EngineException("DefaultCPUAllocator: not enough memory");
          }
        };
    Deque<SampleGroup> waiting = new ArrayDeque<>();
    try (Decoder decoder =
            new Decoder(TINY, TOKENIZER.vocabularySize(), Device.host(), Precision.FLOAT32, once);
        DecodeWeights weights = new DecodeWeights(decoder);
        DecodeBatch batch = new DecodeBatch(decoder, weights, compute, TOKENIZER)) {
      weights.load(weights());
      waiting.add(new SampleGroup(request(1, "12", 4, 1)));
      batch.admit(waiting, WeightVersion.BASE);
      try {
        batch.step(WeightVersion.BASE);
      } catch (TorchOutOfMemoryException shortage) {
        batch.shrinkBudget(shortage);
      }
      assertThat(batch.budget()).isEqualTo(32);
      for (int group = 2; batch.budget() < 64; group++) {
        SampleGroup largest = new SampleGroup(request(group, "12", 4, group));
        waiting.add(largest);
        while (!waiting.isEmpty() || !batch.isIdle()) {
          batch.prepare();
          batch.admit(waiting, WeightVersion.BASE);
          batch.step(WeightVersion.BASE);
        }
        assertThat(largest.result().join()).hasSize(4);
      }
      assertThat(decodes.get()).isGreaterThan(DecodeBatch.CALM_STEPS);
    }
  }

  @Test
  void train_memoryRunsOut_makesTheStepInSmallerParts() {
    assertThat(normOf(failing("log_probs", 2))).isCloseTo(normOf(_ -> {}), within(1e-4));
  }

  private static double normOf(Consumer<String> watcher) {
    try (TrainingEngine trainer = policy(watcher).newTrainer(3)) {
      List<TrainingSequence> batch = Fixtures.batch(new Random(5), 12);
      return Fixtures.stepped(trainer.trainSupervised(batch, Fixtures.ADAM)).gradientNorm();
    }
  }

  @Test
  void train_neverEnough_saysWhatToDoAndChangesNothing() {
    Consumer<String> never =
        called -> {
          if (called.equals("log_probs")) {
            throw new EngineException("DefaultCPUAllocator: can't allocate memory");
          }
        };
    try (TrainingEngine trainer = policy(never).newTrainer(3)) {
      Map<String, double[]> before = Fixtures.weights(trainer);
      List<TrainingSequence> batch = Fixtures.batch(new Random(5), 4);
      assertThatThrownBy(() -> trainer.trainSupervised(batch, Fixtures.ADAM))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("policy.recompute");
      assertThat(Fixtures.weights(trainer)).usingRecursiveComparison().isEqualTo(before);
    }
  }
}
