package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.completion.TokenVersions.Span;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ToySamplerTest {
  /** Ids 2 to 5, so that five tokens and a stop token fit well into the context of 12. */
  private static final ToySettings SETTINGS = new ToySettings("abcd", 12, 8, 16, Duration.ZERO);

  private static final LogitTable MODEL = new LogitTable(SETTINGS, 6);
  private static final int[] PROMPT = {2, 3};

  /** Holds the sampler between two tokens until the test lets it go on. */
  private final Semaphore held = new Semaphore(0);

  private final Semaphore goOn = new Semaphore(0);

  @Test
  void sample_sameSeed_drawsTheSameWhateverIsBesideIt() {
    try (SamplingEngine sampler = loaded()) {
      Completion alone = one(sampler, request(1, 1, 7)).getFirst();
      List<Completion> beside =
          Await.all(sampler.sample(List.of(request(2, 5, 3), request(3, 4, 7)))).get(1);
      List<Completion> other = one(sampler, request(4, 4, 8));

      assertThat(beside.getFirst().tokens()).isEqualTo(alone.tokens());
      assertThat(beside.getFirst().logProbs()).isEqualTo(alone.logProbs());
      assertThat(beside).extracting(c -> Arrays.toString(c.tokens())).doesNotHaveDuplicates();
      assertThat(other.getFirst().tokens()).isNotEqualTo(alone.tokens());
    }
  }

  @Test
  void freeze_openRequest_drawsNothingUntilItIsThawed() {
    List<String> heard = new CopyOnWriteArrayList<>();
    try (SamplingEngine sampler = loaded()) {
      sampler.freeze(true);
      CompletionStage<List<Completion>> open =
          sampler
              .sample(
                  List.of(
                      request(1, 2, 7)
                          .withListener(
                              (completion, token, logProb, version) ->
                                  heard.add(
                                      "%d %d %s %s"
                                          .formatted(completion, token, logProb, version)))))
              .getFirst();
      Await.one(sampler.load(ToySnapshots.of(new WeightVersion(4), MODEL, weights(3))));
      assertThat(heard).isEmpty();

      sampler.freeze(false);
      List<Completion> completions = Await.one(open);
      for (int c = 0; c < 2; c++) {
        Completion completion = completions.get(c);
        String prefix = c + " ";
        assertThat(heard.stream().filter(line -> line.startsWith(prefix)))
            .containsExactlyElementsOf(
                IntStream.range(0, completion.length())
                    .mapToObj(
                        i ->
                            prefix
                                + completion.tokens()[i]
                                + " "
                                + completion.logProbs()[i]
                                + " v4")
                    .toList());
      }
    }
  }

  @Test
  void sample_manyDraws_haveTheFrequenciesOfTheirLogProbs() {
    try (SamplingEngine sampler = loaded()) {
      SampleRequest many =
          new SampleRequest(lease(1), PROMPT, 20_000, new SamplingSettings(0.7, 1), 5);
      int[] counts = new int[6];
      double[] probabilities = new double[6];
      for (Completion completion : one(sampler, many)) {
        counts[completion.tokens()[0]]++;
        probabilities[completion.tokens()[0]] = Math.exp(completion.logProbs()[0]);
      }

      assertThat(Arrays.stream(probabilities).sum()).isCloseTo(1, within(1e-6));
      for (int k = 0; k < 6; k++) {
        // Four standard deviations of a share of 20,000 draws are at most 0.0142.
        assertThat(counts[k] / 20_000.0).isCloseTo(probabilities[k], within(0.0142));
      }
    }
  }

  @Test
  void sample_anyTemperature_reportsTheTrainersLogProbs() {
    ToyTrainer trainer = new ToyTrainer(SETTINGS, MODEL, weights(3), new float[0]);
    for (double temperature : new double[] {0.5, 1, 1.7}) {
      try (SamplingEngine sampler = loaded()) {
        SampleRequest request =
            new SampleRequest(lease(1), PROMPT, 8, new SamplingSettings(temperature, 6), 5);
        for (Completion completion : one(sampler, request)) {
          float[] expected = new float[completion.length()];
          for (int t = 0; t < expected.length; t++) {
            double[] distribution = MODEL.logProbs(weights(3), MODEL.row(PROMPT, t), temperature);
            expected[t] = (float) distribution[completion.tokens()[t]];
          }
          assertThat(completion.logProbs()).isEqualTo(expected);
        }
      }
    }
    trainer.close();
  }

  @Test
  void sample_greedy_takesTheMostProbableTokenForCertain() {
    float[] weights = new float[MODEL.parameters()];
    weights[MODEL.row(PROMPT, 0) + 4] = 0.5f;
    weights[MODEL.row(PROMPT, 1) + 3] = 0.5f;
    weights[MODEL.row(PROMPT, 2) + 1] = 0.5f;
    try (SamplingEngine sampler = idle()) {
      Await.one(sampler.load(ToySnapshots.of(WeightVersion.BASE, MODEL, weights)));
      SampleRequest greedy = new SampleRequest(lease(1), PROMPT, 2, SamplingSettings.greedy(6), 5);
      for (Completion completion : one(sampler, greedy)) {
        assertThat(completion.tokens()).containsExactly(4, 3, 1);
        assertThat(completion.logProbs()).containsExactly(0, 0, 0);
        assertThat(completion.finishReason()).isEqualTo(FinishReason.STOP);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void sample_anySeed_endsAtTheStopTokenOrTheLimit(long seed) {
    try (SamplingEngine sampler = loaded()) {
      for (Completion completion : one(sampler, request(1, 16, seed))) {
        int[] tokens = completion.tokens();
        boolean stops = tokens[tokens.length - 1] == 1;
        assertThat(Arrays.stream(tokens).filter(t -> t == 1).count()).isEqualTo(stops ? 1 : 0);
        assertThat(completion.finishReason())
            .isEqualTo(stops ? FinishReason.STOP : FinishReason.LENGTH);
        assertThat(stops || tokens.length == 6).isTrue();
        assertThat(completion.versions())
            .isEqualTo(TokenVersions.uniform(new WeightVersion(3), tokens.length));
      }
    }
  }

  @Test
  void load_inTheMiddleOfACompletion_changesTheVersionOfTheTokensAfterIt() {
    try (SamplingEngine sampler = held()) {
      Await.one(sampler.load(endless(1)));
      var answer = sampler.sample(List.of(request(1, 2, 7))).getFirst();
      held.acquireUninterruptibly();
      goOn.release();
      held.acquireUninterruptibly(); // two tokens are drawn
      CompletionStage<WeightVersion> loaded = sampler.load(endless(2));
      assertThat(loaded.toCompletableFuture().isDone()).isFalse();
      goOn.release(100);

      assertThat(Await.one(loaded)).isEqualTo(new WeightVersion(2));
      for (Completion completion : Await.one(answer)) {
        assertThat(completion.versions().spans())
            .containsExactly(new Span(new WeightVersion(1), 2), new Span(new WeightVersion(2), 4));
      }
    }
  }

  @Test
  void load_severalAtOnce_usesTheNewestAndTellsAll() {
    try (SamplingEngine sampler = held()) {
      Await.one(sampler.load(endless(1)));
      var answer = sampler.sample(List.of(request(1, 1, 7))).getFirst();
      held.acquireUninterruptibly();
      var loads = List.of(2L, 4L, 3L).stream().map(v -> sampler.load(endless(v))).toList();
      goOn.release(100);

      assertThat(Await.all(loads)).containsOnly(new WeightVersion(4));
      assertThat(Await.one(answer).getFirst().versions().spans())
          .containsExactly(new Span(new WeightVersion(1), 1), new Span(new WeightVersion(4), 5));
      assertThat(Await.one(sampler.load(endless(2)))).isEqualTo(new WeightVersion(4));
    }
  }

  @Test
  void load_weightsOfAnotherPolicy_failsAndKeepsTheOld() {
    LogitTable other = new LogitTable(SETTINGS, 7);
    try (SamplingEngine sampler = loaded()) {
      WeightSnapshot foreign =
          ToySnapshots.of(new WeightVersion(9), other, new float[other.parameters()]);

      assertThat(Await.failure(sampler.load(foreign)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "a snapshot of this policy holds the tensor sums.weight of shape [8, 16, 6], and that"
                  + " of v9 holds [sums.weight [8, 16, 7]]");
      assertThat(one(sampler, request(1, 1, 7)).getFirst().versions().newest())
          .isEqualTo(new WeightVersion(3));
    }
  }

  @Test
  void sample_beforeTheFirstLoad_waitsForIt() {
    try (SamplingEngine sampler = idle()) {
      var answer = sampler.sample(List.of(request(1, 1, 7))).getFirst();
      assertThat(answer.toCompletableFuture().isDone()).isFalse();
      Await.one(sampler.load(endless(0)));

      assertThat(Await.one(answer).getFirst().length()).isEqualTo(6);
    }
  }

  @Test
  void cancel_openLease_failsItsStageAndNoOther() {
    try (SamplingEngine sampler = held()) {
      Await.one(sampler.load(endless(1)));
      var answers = sampler.sample(List.of(request(1, 1, 7), request(2, 1, 7)));
      held.acquireUninterruptibly();
      sampler.cancel(lease(1));
      sampler.cancel(lease(1));
      sampler.cancel(lease(77));

      assertThat(Await.failure(answers.get(0)))
          .isInstanceOf(CancellationException.class)
          .hasMessage("lease g1#1 was cancelled");
      var again = sampler.sample(List.of(request(1, 1, 7))).getFirst();
      goOn.release(100);
      assertThat(Await.one(answers.get(1))).hasSize(1);
      assertThat(Await.one(again)).hasSize(1);
    }
  }

  @Test
  void close_withOpenWork_failsItAllAndRefusesMore() {
    SamplingEngine sampler = idle();
    var waiting = sampler.sample(List.of(request(1, 1, 7))).getFirst();
    sampler.close();
    sampler.close();

    for (CompletionStage<?> stage :
        List.of(
            waiting,
            sampler.sample(List.of(request(2, 1, 7))).getFirst(),
            sampler.load(endless(1)))) {
      assertThat(Await.failure(stage))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the sampler is closed");
    }
    sampler.cancel(lease(1));
  }

  @Test
  void close_whileWaitingOutATokenDelay_returnsAtOnce() {
    SamplingEngine sampler = new ToySampler(SETTINGS, MODEL, Duration.ofHours(1));
    SampleRequest oneToken = new SampleRequest(lease(2), PROMPT, 1, new SamplingSettings(1, 1), 7);
    var answers = sampler.sample(List.of(request(1, 1, 7), oneToken));
    sampler.load(endless(1));
    Await.one(answers.get(1)); // the delay follows, whatever else is asked
    sampler.close();

    assertThat(Await.failure(answers.get(0))).hasMessage("the sampler is closed");
  }

  @Test
  void close_fromAContinuation_doesNotDeadlock() {
    SamplingEngine sampler = loaded();
    CompletableFuture<List<Completion>> closed = new CompletableFuture<>();
    sampler
        .sample(List.of(request(1, 1, 7)))
        .getFirst()
        .thenAccept(
            completions -> {
              sampler.close();
              closed.complete(completions);
            });

    assertThat(Await.one(closed)).hasSize(1);
    sampler.close();
  }

  @Test
  void sample_weightsThatAreNotFinite_failsTheRequestAndGoesOn() {
    float[] broken = new float[MODEL.parameters()];
    Arrays.fill(broken, Float.NaN);
    try (SamplingEngine sampler = idle()) {
      Await.one(sampler.load(ToySnapshots.of(new WeightVersion(1), MODEL, broken)));
      assertThat(Await.failure(sampler.sample(List.of(request(1, 1, 7))).getFirst()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("NaN");
      Await.one(sampler.load(endless(2)));

      assertThat(one(sampler, request(1, 1, 7))).hasSize(1);
    }
  }

  @Test
  void sample_requestThatCannotBeServed_isRefusedWithTheReason() {
    try (SamplingEngine sampler = idle()) {
      SampleRequest tooLong =
          new SampleRequest(lease(1), new int[7], 1, new SamplingSettings(1, 6), 1);
      assertThatThrownBy(() -> sampler.sample(List.of(tooLong)))
          .hasMessage(
              "lease g1#1: prompt (7) and completion (at most 6) must fit the context of 12"
                  + " tokens");
      SampleRequest foreign =
          new SampleRequest(lease(1), new int[] {6}, 1, new SamplingSettings(1, 6), 1);
      assertThatThrownBy(() -> sampler.sample(List.of(foreign)))
          .hasMessage("lease g1#1: prompt token 6 is no id of this policy; ids lie in [0, 5]");
      assertThatThrownBy(() -> sampler.sample(List.of(request(1, 1, 7), request(1, 1, 8))))
          .hasMessage("lease g1#1 is being sampled already; a lease is one request");
      assertThat(sampler.sample(List.of(request(1, 1, 7)))).hasSize(1);
    }
  }

  private SamplingEngine idle() {
    return new ToySampler(SETTINGS, MODEL, Duration.ZERO);
  }

  private SamplingEngine loaded() {
    SamplingEngine sampler = idle();
    Await.one(sampler.load(ToySnapshots.of(new WeightVersion(3), MODEL, weights(3))));
    return sampler;
  }

  private SamplingEngine held() {
    return new ToySampler(
        SETTINGS,
        MODEL,
        () -> {
          held.release();
          awaitGoOn();
        });
  }

  /** Gives up after a while, so that a failing test can close its sampler. */
  private void awaitGoOn() {
    try {
      if (!goOn.tryAcquire(60, TimeUnit.SECONDS)) {
        throw new AssertionError("the test never let the sampler go on");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Weights that never draw the stop token. */
  private static WeightSnapshot endless(long version) {
    float[] weights = new float[MODEL.parameters()];
    for (int row = 0; row < weights.length; row += 6) {
      weights[row + 1] = -100;
    }
    return ToySnapshots.of(new WeightVersion(version), MODEL, weights);
  }

  private static float[] weights(long seed) {
    float[] weights = new float[MODEL.parameters()];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) (2 * ToyRandom.uniform(seed, i, 1) - 1);
    }
    return weights;
  }

  private static SampleRequest request(long group, int completions, long seed) {
    return new SampleRequest(lease(group), PROMPT, completions, new SamplingSettings(1, 6), seed);
  }

  private static LeaseId lease(long group) {
    return new LeaseId(new GroupId(group), 1);
  }

  private static List<Completion> one(SamplingEngine sampler, SampleRequest request) {
    return Await.one(sampler.sample(List.of(request)).getFirst());
  }
}
