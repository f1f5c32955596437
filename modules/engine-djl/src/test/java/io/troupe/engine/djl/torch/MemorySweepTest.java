package io.troupe.engine.djl.torch;

import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.engine.EngineException;
import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.decode.DecodeBatch;
import io.troupe.engine.djl.decode.DecodeWeights;
import io.troupe.engine.djl.decode.SampleGroup;
import io.troupe.engine.djl.model.CounterRandom;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory runs out once, at each native call that is made to decode completions that pass through
 * all pools of the cache, and nobody who reads the completions can tell.
 */
final class MemorySweepTest {
  private static final int NEVER = 0;
  private static final int SWAP_AT = 4;
  private static final int SAMPLER_STRIDE = 9;
  private static final int MOST_TURNS = 1000;
  private static final int CONTEXT = 80;
  private static final DecoderSettings THREE_POOLS =
      new DecoderSettings(8, 2, 4, 2, 4, 12, CONTEXT, 10_000, 1e-6, true, .5);

  /** Most readings of prompts take several calls. */
  private static final int PREFILL_TOKENS = 70;

  private static final List<WeightSnapshot> WEIGHTS = List.of(weights(0), weights(1));
  private static final List<ReferenceDecoder> REFERENCES =
      WEIGHTS.stream()
          .map(
              weights ->
                  new ReferenceDecoder(
                      THREE_POOLS, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors())))
          .toList();

  private final AtomicInteger calls = new AtomicInteger();
  private final AtomicInteger failing = new AtomicInteger();
  private final AtomicInteger told = new AtomicInteger();
  private final Set<String> checked = new HashSet<>();

  private static WeightSnapshot weights(long version) {
    try (TrainingEngine trainer = Fixtures.policy(THREE_POOLS).newTrainer(3 + version)) {
      return trainer.snapshot(new WeightVersion(version));
    }
  }

  private void called() {
    if (calls.incrementAndGet() == failing.get()) {
      throw new EngineException("CUDA out of memory. Tried to allocate 2.00 GiB.");
    }
  }

  private List<SampleRequest> requests() {
    String text = "12+34=7".repeat(10);
    int[] prompts = {30, 61, 31, 29, 62, 3, 28, 63};
    List<SampleRequest> requests = new ArrayList<>();
    for (int g = 0; g < prompts.length; g++) {
      requests.add(
          new SampleRequest(
              Fixtures.lease(g + 1),
              TOKENIZER.encode(text.substring(0, prompts[g])),
              2,
              new SamplingSettings(1, 8),
              300 + g,
              (_, _, _, _) -> told.incrementAndGet()));
    }
    return requests;
  }

  @ParameterizedTest(name = "kv_tokens {0}, kv_on_swap {1}, weights change: {2}")
  @CsvSource({
    "1000000, KEEP, false",
    "400, KEEP, false",
    "400, RECOMPUTE, true",
    "1000000, RECOMPUTE, true"
  })
  void decode_memoryRunsOutAtAnyCall_everyTokenIsTheUndisturbedOne(
      long kvTokens, KvOnSwap onSwap, boolean swaps) {
    Torch.load();
    Torch.enter(1, false);
    ComputeSettings compute = ComputeSettings.of(1, 1, PREFILL_TOKENS).withCache(kvTokens, onSwap);
    try (Decoder decoder =
            new Decoder(
                THREE_POOLS,
                TOKENIZER.vocabularySize(),
                Device.host(),
                Precision.FLOAT32,
                _ -> called());
        DecodeWeights weights = new DecodeWeights(decoder)) {
      List<Completion> undisturbed = decoded(decoder, weights, compute, swaps, NEVER);
      int made = calls.get();
      assertThat(made).isGreaterThan(40);
      for (int call = 1; call <= made; call++) {
        List<Completion> disturbed = decoded(decoder, weights, compute, swaps, call);
        if (!swaps) { // else which version draws a token depends on when it is drawn
          assertThat(tokens(disturbed)).as("call %d", call).isEqualTo(tokens(undisturbed));
        }
      }
    }
  }

  private static List<String> tokens(List<Completion> completions) {
    return completions.stream().map(c -> Arrays.toString(c.tokens())).toList();
  }

  /** Drives a batch as the sampler's thread does. */
  private List<Completion> decoded(
      Decoder decoder,
      DecodeWeights weights,
      ComputeSettings compute,
      boolean swaps,
      int failingCall) {
    List<SampleGroup> groups = requests().stream().map(SampleGroup::new).toList();
    Deque<SampleGroup> waiting = new ArrayDeque<>(groups);
    failing.set(NEVER);
    told.set(0);
    weights.load(WEIGHTS.getFirst());
    long live = NativeTensor.live();
    try (DecodeBatch batch = new DecodeBatch(decoder, weights, compute, TOKENIZER)) {
      calls.set(0);
      failing.set(failingCall);
      WeightVersion version = WeightVersion.BASE;
      for (int turn = 1; !waiting.isEmpty() || !batch.isIdle(); turn++) {
        assertThat(turn).isLessThan(MOST_TURNS);
        if (swaps && turn == SWAP_AT) {
          int before = failing.getAndSet(NEVER); // the sampler's test fails these
          int made = calls.get();
          weights.load(WEIGHTS.getLast());
          calls.set(made);
          failing.set(before);
          version = WEIGHTS.getLast().version();
          withinMemory(batch, batch::recompute);
        }
        WeightVersion drawing = version;
        withinMemory(
            batch,
            () -> {
              batch.prepare();
              batch.admit(waiting, drawing);
              batch.step(drawing);
            });
      }
    }
    assertThat(NativeTensor.live()).isEqualTo(live);
    List<Completion> completions =
        groups.stream().flatMap(group -> group.result().join().stream()).toList();
    check(completions);
    return completions;
  }

  private static void withinMemory(DecodeBatch batch, Runnable work) {
    try {
      work.run();
    } catch (TorchOutOfMemoryException shortage) {
      batch.shrinkBudget(shortage);
    }
  }

  @Test
  void sample_memoryRunsOutAtSomeCall_everyTokenIsTheUndisturbedOne() throws Exception {
    List<Completion> undisturbed = sampled(NEVER);
    int made = calls.get();
    for (int call = 1; call <= made; call += SAMPLER_STRIDE) {
      assertThat(tokens(sampled(call))).as("call %d", call).isEqualTo(tokens(undisturbed));
    }
  }

  /** Returns the completions of all requests, and of another request after them. */
  private List<Completion> sampled(int failingCall) throws Exception {
    ComputeSettings compute =
        ComputeSettings.of(1, 1, PREFILL_TOKENS).withCache(400, KvOnSwap.KEEP);
    DjlPolicy policy =
        DjlPolicy.create(THREE_POOLS, TOKENIZER, compute).withProgressWatch(_ -> called());
    long live = NativeTensor.live();
    calls.set(0);
    told.set(0);
    failing.set(failingCall);
    List<Completion> completions = new ArrayList<>();
    try (SamplingEngine sampler = policy.newSampler()) {
      var _ = sampler.load(WEIGHTS.getFirst());
      for (CompletionStage<List<Completion>> stage : sampler.sample(requests())) {
        completions.addAll(answer(stage));
      }
      check(completions);
      assertThat(answer(sampler.sample(List.of(requests().getFirst())).getFirst())).hasSize(2);
      assertThat(sampler.failed().toCompletableFuture()).isNotDone();
    }
    assertThat(NativeTensor.live()).isEqualTo(live);
    return completions;
  }

  private static List<Completion> answer(CompletionStage<List<Completion>> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Every token is what its version of the weights draws after those before it. */
  private void check(List<Completion> completions) {
    assertThat(told.get()).isEqualTo(completions.stream().mapToInt(Completion::length).sum());
    List<SampleRequest> requests = requests();
    for (int c = 0; c < completions.size(); c++) {
      SampleRequest request = requests.get(c / 2);
      Completion completion = completions.get(c);
      String key = request.lease() + " " + c % 2 + Arrays.toString(completion.tokens());
      if (checked.add(key + completion.versions())) {
        check(request, c % 2, completion);
      }
    }
  }

  private static void check(SampleRequest request, int index, Completion completion) {
    int prompt = request.prompt().length;
    int[] ids = Arrays.copyOf(request.prompt(), prompt + completion.length());
    System.arraycopy(completion.tokens(), 0, ids, prompt, completion.length());
    Map<Long, double[][]> logits =
        Map.of(0L, REFERENCES.getFirst().logits(ids), 1L, REFERENCES.getLast().logits(ids));
    List<Long> versions =
        completion.versions().spans().stream()
            .flatMap(span -> Collections.nCopies(span.tokens(), span.version().number()).stream())
            .toList();
    for (int t = 0; t < completion.length(); t++) {
      long version = versions.get(t);
      double[][] all = Objects.requireNonNull(logits.get(version));
      double[] logProbs = ReferenceDecoder.logSoftmax(all[prompt + t - 1], 1);
      int token = completion.tokens()[t];
      String what = "token %d of %s".formatted(t, request.lease());
      assertThat((double) completion.logProbs()[t])
          .as(what)
          .isCloseTo(logProbs[token], within(1e-4));
      double below = 0;
      for (int id = 0; id < token; id++) {
        below += Math.exp(logProbs[id]);
      }
      double uniform = CounterRandom.uniform(request.seed(), index, t);
      assertThat(uniform)
          .as(what)
          .isBetween(below - 1e-4, below + Math.exp(logProbs[token]) + 1e-4);
    }
  }
}
