package io.troupe.engine.djl.decode;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.request;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.engine.EngineException;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.ReferenceDecoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class DjlSamplerTest {

  private static WeightSnapshot weights(DecoderSettings settings, long seed, long version) {
    try (TrainingEngine trainer = Fixtures.policy(settings).newTrainer(seed)) {
      return trainer.snapshot(new WeightVersion(version));
    }
  }

  private static List<List<Completion>> await(List<CompletionStage<List<Completion>>> stages) {
    return stages.stream().map(stage -> stage.toCompletableFuture().join()).toList();
  }

  private static SamplingEngine sampler(WeightSnapshot weights) {
    SamplingEngine sampler = Fixtures.policy(TINY).newSampler();
    sampler.load(weights).toCompletableFuture().join();
    return sampler;
  }

  private static List<Completion> one(SamplingEngine sampler, SampleRequest request) {
    return await(sampler.sample(List.of(request))).getFirst();
  }

  private static List<String> texts(List<Completion> completions) {
    return completions.stream().map(c -> Arrays.toString(c.tokens())).toList();
  }

  @Test
  void sample_unequalPrompts_logProbsAreThePlainDecoders() {
    WeightSnapshot weights = weights(TINY, 3, 0);
    ReferenceDecoder decoder =
        new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    List<SampleRequest> requests =
        List.of(
            request(1, "1", 5, 11), request(2, "12+34=", 5, 12), request(3, "987654321", 5, 13));
    try (SamplingEngine sampler = sampler(weights)) {
      List<List<Completion>> groups = await(sampler.sample(requests));
      for (int g = 0; g < groups.size(); g++) {
        assertThat(groups.get(g)).hasSize(5);
        for (Completion c : groups.get(g)) {
          double[] expected = decoder.logProbs(requests.get(g).prompt(), c.tokens(), 1);
          for (int t = 0; t < expected.length; t++) {
            assertThat((double) c.logProbs()[t]).isCloseTo(expected[t], within(1e-5));
          }
        }
      }
    }
  }

  @Test
  void sample_greedy_isTheFullForwardsArgmaxAtTemperatureOne() {
    WeightSnapshot weights = weights(TINY, 5, 0);
    ReferenceDecoder decoder =
        new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    try (SamplingEngine sampler = sampler(weights)) {
      for (String prompt : List.of("1+1=", "99+10=", "7")) {
        Completion c = one(sampler, Fixtures.greedy(1, prompt, 10)).getFirst();
        int[] ids = TOKENIZER.encode(prompt);
        for (int t = 0; t < c.length(); t++) {
          double[][] logits = decoder.logits(ids);
          double[] logProbs = ReferenceDecoder.logSoftmax(logits[ids.length - 1], 1);
          int best = 0;
          for (int v = 1; v < logProbs.length; v++) {
            best = logProbs[v] > logProbs[best] ? v : best;
          }
          assertThat(c.tokens()[t]).isEqualTo(best);
          assertThat((double) c.logProbs()[t]).isCloseTo(logProbs[best], within(1e-5));
          ids = Arrays.copyOf(ids, ids.length + 1);
          ids[ids.length - 1] = best;
        }
      }
    }
  }

  @Test
  void freeze_openRequest_drawsNothingUntilItIsThawed() {
    List<String> heard = new CopyOnWriteArrayList<>();
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 0))) {
      sampler.freeze(true);
      SampleRequest request =
          request(1, "12+34=", 1, 42)
              .withListener(
                  (_, token, logProb, version) -> heard.add(token + " " + logProb + " " + version));
      List<CompletionStage<List<Completion>>> open = sampler.sample(List.of(request));
      sampler.load(weights(TINY, 3, 4)).toCompletableFuture().join();
      assertThat(heard).isEmpty();

      sampler.freeze(false);
      Completion completion = await(open).getFirst().getFirst();
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < completion.length(); i++) {
        expected.add(completion.tokens()[i] + " " + completion.logProbs()[i] + " v4");
      }
      assertThat(heard).isEqualTo(expected);
    }
  }

  @Test
  void sample_sameSeed_drawsTheSameWhateverElseIsDecoded() {
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 0))) {
      List<String> alone = texts(one(sampler, request(1, "12+34=", 8, 42)));
      List<SampleRequest> crowd = new ArrayList<>();
      for (int g = 2; g < 10; g++) {
        crowd.add(request(g, "9".repeat(g), g, g));
      }
      crowd.add(4, request(1, "12+34=", 8, 42));
      assertThat(texts(await(sampler.sample(crowd)).get(4))).isEqualTo(alone);
      assertThat(texts(one(sampler, request(1, "12+34=", 8, 43)))).isNotEqualTo(alone);
    }
  }

  @Test
  void sample_manyDraws_frequenciesAreTheDistributions() {
    WeightSnapshot weights = weights(TINY, 3, 0);
    ReferenceDecoder decoder =
        new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    int[] prompt = TOKENIZER.encode("1+1=");
    double temperature = 1.5;
    double[] logProbs = ReferenceDecoder.logSoftmax(decoder.logits(prompt)[3], temperature);
    int draws = 4000;
    int[] seen = new int[logProbs.length];
    try (SamplingEngine sampler = sampler(weights)) {
      SampleRequest request =
          new SampleRequest(
              Fixtures.lease(1), prompt, draws, new SamplingSettings(temperature, 1), 9);
      for (Completion c : one(sampler, request)) {
        seen[c.tokens()[0]]++;
        assertThat((double) c.logProbs()[0]).isCloseTo(logProbs[c.tokens()[0]], within(1e-5));
      }
    }
    for (int v = 0; v < seen.length; v++) {
      double p = Math.exp(logProbs[v]);
      double deviation = Math.sqrt(p * (1 - p) / draws);
      assertThat(seen[v] / (double) draws).as("token %d", v).isCloseTo(p, within(4 * deviation));
    }
  }

  @Test
  void sample_limits_endCompletionsWithTheirReason() {
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 0))) {
      SampleRequest request =
          new SampleRequest(
              Fixtures.lease(1), TOKENIZER.encode("1+1="), 64, new SamplingSettings(1, 100), 5);
      for (Completion c : one(sampler, request)) {
        boolean stopped = c.tokens()[c.length() - 1] == 1;
        assertThat(c.finishReason()).isEqualTo(stopped ? FinishReason.STOP : FinishReason.LENGTH);
        assertThat(c.length()).isEqualTo(stopped ? c.length() : TINY.contextLength() - 4);
        assertThat(Arrays.stream(c.tokens()).limit(c.length() - 1L)).doesNotContain(1);
      }
      assertThat(one(sampler, request(2, "1", 4, 1)).getFirst().length()).isLessThanOrEqualTo(8);
    }
  }

  @Test
  void sample_moreThanDecodeRows_waitsItsTurn() {
    DjlPolicy policy =
        DjlPolicy.create(
            TINY,
            TOKENIZER,
            ComputeSettings.of(1, 1, 8)
                .withDecoding(
                    new ComputeSettings.Decoding(6, Long.MAX_VALUE, KvOnSwap.KEEP, false)));
    try (SamplingEngine sampler = policy.newSampler()) {
      sampler.load(weights(TINY, 3, 0));
      List<SampleRequest> requests = new ArrayList<>();
      for (int g = 1; g <= 7; g++) {
        requests.add(request(g, "1".repeat(g), 4, g));
      }
      assertThat(await(sampler.sample(requests))).hasSize(7).allMatch(g -> g.size() == 4);
      assertThatThrownBy(() -> one(sampler, request(9, "1", 7, 1)))
          .hasRootCauseMessage(
              "g9#1 asks for 7 completions, but decode_rows is 6; raise it or ask for fewer");
    }
  }

  @Test
  void sample_beforeWeights_waitsForThem() {
    try (SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      List<CompletionStage<List<Completion>>> stages =
          sampler.sample(List.of(request(1, "1+1=", 2, 1)));
      assertThat(stages.getFirst().toCompletableFuture()).isNotDone();
      sampler.load(weights(TINY, 3, 4));
      assertThat(await(stages).getFirst().getFirst().versions().oldest())
          .isEqualTo(new WeightVersion(4));
    }
  }

  @Test
  void cancel_waitingLease_failsWithCancellation() {
    try (SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      List<CompletionStage<List<Completion>>> stages =
          sampler.sample(List.of(request(1, "1+1=", 2, 1), request(2, "1+1=", 2, 1)));
      sampler.cancel(Fixtures.lease(1));
      sampler.load(weights(TINY, 3, 0));
      assertThat(stages.get(1).toCompletableFuture().join()).hasSize(2);
      assertThatThrownBy(() -> stages.getFirst().toCompletableFuture().join())
          .isInstanceOfAny(CancellationException.class, CompletionException.class)
          .hasStackTraceContaining("g1#1 was cancelled");
    }
  }

  @Test
  void sample_promptWithoutRoom_isRefused() {
    try (SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      assertThatThrownBy(() -> one(sampler, request(1, "1".repeat(16), 1, 1)))
          .hasRootCauseMessage(
              "g1#1: a prompt of 16 tokens leaves no room for a completion in a context of 16");
    }
  }

  @Test
  void load_otherPolicysWeights_isRefusedAndTheOldStay() {
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 1))) {
      DecoderSettings wider = new DecoderSettings(16, 2, 4, 2, 4, 12, 16, 10_000, 1e-6, true, .5);
      assertThatThrownBy(() -> sampler.load(weights(wider, 3, 2)).toCompletableFuture().join())
          .hasRootCauseMessage(
              "model.embed_tokens.weight of the weights v2 has shape [14, 16], but the policy's"
                  + " has [14, 8]");
      assertThat(one(sampler, request(1, "1", 1, 1)).getFirst().versions().oldest())
          .isEqualTo(new WeightVersion(1));
    }
  }

  @Test
  void load_olderWeights_isPassedOver() {
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 5))) {
      assertThat(sampler.load(weights(TINY, 4, 4)).toCompletableFuture().join())
          .isEqualTo(new WeightVersion(5));
    }
  }

  @Test
  void sample_weightsNotFinite_failsNamingTheRequest() {
    WeightSnapshot good = weights(TINY, 3, 0);
    List<WeightSnapshot.Tensor> bad =
        good.tensors().stream()
            .map(
                t -> {
                  var copy = Arena.ofAuto().allocate(t.data().byteSize(), 8);
                  copy.copyFrom(t.data()).set(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
                  return new WeightSnapshot.Tensor(t.name(), t.shape(), copy);
                })
            .toList();
    try (SamplingEngine sampler = sampler(new WeightSnapshot(new WeightVersion(2), "none", bad))) {
      assertThatThrownBy(() -> one(sampler, request(6, "1+1=", 1, 1)))
          .hasRootCauseInstanceOf(ArithmeticException.class)
          .hasStackTraceContaining("of g6#1 has log-probability NaN under weights v2");
    }
  }

  @Test
  void close_openRequests_failAndTheThreadIsGone() {
    SamplingEngine sampler = Fixtures.policy(TINY).newSampler();
    List<CompletionStage<List<Completion>>> stages =
        sampler.sample(List.of(request(1, "1+1=", 2, 1)));
    sampler.close();
    sampler.close();
    assertThat(stages.getFirst().toCompletableFuture()).isCompletedExceptionally();
    assertThat(sampler.sample(List.of(request(2, "1", 1, 1))).getFirst().toCompletableFuture())
        .isCompletedExceptionally();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("sampler-") && thread.isAlive());
  }

  @Test
  void train_onSampledCompletions_gapToTheSamplerIsRounding() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(3);
        SamplingEngine sampler = sampler(trainer.snapshot(WeightVersion.BASE))) {
      List<SampleRequest> requests =
          List.of(request(1, "1", 8, 1), request(2, "12+34=", 8, 2), request(3, "55+5", 8, 3));
      List<List<Completion>> groups = await(sampler.sample(requests));
      List<TrainingSequence> batch = new ArrayList<>();
      for (int g = 0; g < groups.size(); g++) {
        for (Completion c : groups.get(g)) {
          batch.add(Fixtures.sequence(requests.get(g).prompt(), c));
        }
      }
      assertThat(
              stepped(trainer.train(batch, Fixtures.plainLoss(), Fixtures.ADAM)).metrics().gapMax())
          .isLessThan(1e-4);
    }
  }

  /**
   * Samples, and calls {@code action} when every completion has two tokens or its end. The
   * sampler's own thread makes all calls, from callbacks: first the requests, beside a group of one
   * token; then, when that is drawn, the action, which the sampler meets after the step that
   * follows.
   */
  private static List<CompletableFuture<List<Completion>>> sampleThen(
      SamplingEngine sampler,
      WeightSnapshot weights,
      List<SampleRequest> requests,
      Runnable action) {
    List<CompletableFuture<List<Completion>>> answers =
        requests.stream().map(_ -> new CompletableFuture<List<Completion>>()).toList();
    List<SampleRequest> all = new ArrayList<>(requests);
    all.add(Fixtures.greedy(101, "1", 1));
    Runnable sample =
        () -> {
          List<CompletionStage<List<Completion>>> stages = sampler.sample(all);
          CompletionStage<?> _ = stages.getLast().thenRun(action);
          for (int i = 0; i < answers.size(); i++) {
            CompletableFuture<List<Completion>> answer = answers.get(i);
            CompletionStage<?> _ =
                stages
                    .get(i)
                    .whenComplete((completions, failure) -> settle(answer, completions, failure));
          }
        };
    CompletionStage<?> _ =
        sampler.sample(List.of(Fixtures.greedy(100, "1", 1))).getFirst().thenRun(sample);
    sampler.load(weights).toCompletableFuture().join();
    return answers;
  }

  private static void settle(
      CompletableFuture<List<Completion>> answer,
      @Nullable List<Completion> completions,
      @Nullable Throwable failure) {
    if (failure != null) {
      answer.completeExceptionally(failure);
    } else if (completions != null) {
      answer.complete(completions);
    }
  }

  @Test
  void load_whileDecoding_takesEffectAtTheNextTokenAndIsRecorded() {
    WeightSnapshot first = weights(TINY, 3, 0);
    WeightSnapshot second = weights(TINY, 4, 1);
    SampleRequest request =
        new SampleRequest(
            Fixtures.lease(1), TOKENIZER.encode("1+1="), 6, new SamplingSettings(1, 12), 5);
    List<Completion> unchanged;
    try (SamplingEngine sampler = sampler(first)) {
      unchanged = one(sampler, request);
    }
    try (SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      List<Completion> swapped =
          sampleThen(sampler, first, List.of(request), () -> sampler.load(second))
              .getFirst()
              .join();
      for (int i = 0; i < swapped.size(); i++) {
        Completion c = swapped.get(i);
        int before = Math.min(2, c.length());
        assertThat(c.versions().spans().getFirst())
            .isEqualTo(new TokenVersions.Span(WeightVersion.BASE, before));
        assertThat(Arrays.copyOf(c.tokens(), before))
            .isEqualTo(Arrays.copyOf(unchanged.get(i).tokens(), before));
        if (c.length() > before) {
          assertThat(c.versions().spans().get(1))
              .isEqualTo(new TokenVersions.Span(new WeightVersion(1), c.length() - before));
          assertThat(c.logProbs()[before]).isNotEqualTo(unchanged.get(i).logProbs()[before]);
        }
      }
      assertThat(swapped).anyMatch(c -> c.versions().spans().size() == 2);
    }
  }

  @Test
  void train_onCompletionsOfTwoVersions_gapIsRoundingWhereWeightsAreEqual() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(3);
        SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      SampleRequest request = request(1, "12+34=", 16, 2);
      WeightSnapshot same = trainer.snapshot(new WeightVersion(1));
      List<Completion> completions =
          sampleThen(
                  sampler,
                  trainer.snapshot(WeightVersion.BASE),
                  List.of(request),
                  () -> sampler.load(same))
              .getFirst()
              .join();
      assertThat(completions).anyMatch(c -> c.versions().spans().size() == 2);
      List<TrainingSequence> batch =
          completions.stream().map(c -> Fixtures.sequence(request.prompt(), c)).toList();
      assertThat(
              stepped(trainer.train(batch, Fixtures.plainLoss(), Fixtures.ADAM)).metrics().gapMax())
          .isLessThan(1e-4);
    }
  }

  @Test
  void cancel_whileDecoding_endsThatLeaseOnly() {
    SampleRequest kept = request(2, "1+1=", 4, 2);
    WeightSnapshot weights = weights(TINY, 3, 0);
    List<String> alone;
    try (SamplingEngine sampler = sampler(weights)) {
      alone = texts(one(sampler, kept));
    }
    try (SamplingEngine sampler = Fixtures.policy(TINY).newSampler()) {
      List<CompletableFuture<List<Completion>>> answers =
          sampleThen(
              sampler,
              weights,
              List.of(request(1, "1+1=", 4, 1), kept),
              () -> sampler.cancel(Fixtures.lease(1)));
      assertThat(texts(answers.get(1).join())).isEqualTo(alone);
      assertThatThrownBy(() -> answers.getFirst().join())
          .hasStackTraceContaining("g1#1 was cancelled");
    }
  }

  @Test
  void sample_manyRequests_leaveNoTensorBehind() {
    try (SamplingEngine sampler = sampler(weights(TINY, 3, 0))) {
      one(sampler, request(1, "1+1=", 16, 1));
      sampler.load(weights(TINY, 4, 1)).toCompletableFuture().join();
      long before = NativeTensor.live();
      for (int g = 2; g < 30; g++) {
        one(sampler, request(g, "1+1=", 16, g));
      }
      sampler.load(weights(TINY, 5, 2)).toCompletableFuture().join();
      assertThat(NativeTensor.live()).isEqualTo(before);
    }
  }

  static List<Throwable> failures() {
    return List.of(
        new EngineException("CUDA error: device-side assert triggered"),
        new IllegalStateException("a defect"),
        new OutOfMemoryError("Java heap space"),
        new StackOverflowError());
  }

  /** Whatever ends its thread, a sampler answers all that was asked of it and says it is lost. */
  @ParameterizedTest
  @MethodSource("failures")
  void sample_callFails_answersAllAndIsLost(Throwable failure) {
    SamplingEngine sampler = failing("decode", failure);
    sampler.load(weights(TINY, 3, 0)).toCompletableFuture().join();
    List<CompletionStage<List<Completion>>> stages =
        sampler.sample(List.of(request(1, "12", 2, 1), request(2, "34", 2, 2)));
    for (CompletionStage<List<Completion>> stage : stages) {
      assertThatThrownBy(() -> stage.toCompletableFuture().join()).hasRootCause(failure);
    }
    assertThat(sampler.failed().toCompletableFuture().join()).isEqualTo(failure.toString());
    assertThatThrownBy(() -> one(sampler, request(3, "5", 1, 3))).hasRootCause(failure);
    assertThatThrownBy(() -> sampler.load(weights(TINY, 3, 1)).toCompletableFuture().join())
        .hasRootCause(failure);
    sampler.close();
  }

  @ParameterizedTest
  @MethodSource("failures")
  void load_callFails_answersAllAndIsLost(Throwable failure) {
    SamplingEngine sampler = failing("joined_layer", failure);
    CompletionStage<List<Completion>> waiting =
        sampler.sample(List.of(request(1, "12", 2, 1))).getFirst();
    CompletionStage<WeightVersion> load = sampler.load(weights(TINY, 3, 0));
    assertThatThrownBy(() -> load.toCompletableFuture().join()).hasRootCause(failure);
    assertThatThrownBy(() -> waiting.toCompletableFuture().join()).hasRootCause(failure);
    assertThat(sampler.failed().toCompletableFuture().join()).isEqualTo(failure.toString());
    sampler.close();
  }

  @Test
  void close_nothingFailed_isNotLost() {
    SamplingEngine sampler = sampler(weights(TINY, 3, 0));
    sampler.close();
    assertThat(sampler.failed().toCompletableFuture()).isNotDone();
  }

  private static SamplingEngine failing(String method, Throwable failure) {
    return Fixtures.policy(TINY)
        .withProgressWatch(
            called -> {
              if (called.equals(method)) {
                switch (failure) {
                  case RuntimeException exception -> throw exception;
                  case Error error -> throw error;
                  default -> throw new AssertionError(failure);
                }
              }
            })
        .newSampler();
  }
}
