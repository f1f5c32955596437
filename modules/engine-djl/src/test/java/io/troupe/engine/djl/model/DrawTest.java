package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Draws of the real sampler against {@link ReferenceWeightsDraw} over the plain decoder's logits.
 */
final class DrawTest {
  private static final double CLOSE = 1e-4;
  private static WeightSnapshot weights;
  private static ReferenceDecoder decoder;
  private static SamplingEngine sampler;

  @BeforeAll
  static void open() {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(3)) {
      weights = trainer.snapshot(WeightVersion.BASE);
    }
    decoder =
        new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.numbers(weights.tensors()));
    sampler = Fixtures.policy(TINY).newSampler();
    sampler.load(weights).toCompletableFuture().join();
  }

  @AfterAll
  static void close() {
    sampler.close();
  }

  private static SampleRequest request(long group, String prompt, SamplingSettings settings) {
    return new SampleRequest(Fixtures.lease(group), TOKENIZER.encode(prompt), 3, settings, group);
  }

  private static List<List<Completion>> sample(List<SampleRequest> requests) {
    List<List<Completion>> groups = new ArrayList<>();
    for (CompletionStage<List<Completion>> stage : sampler.sample(requests)) {
      groups.add(stage.toCompletableFuture().join());
    }
    return groups;
  }

  private static SamplingSettings random(Random random) {
    return new SamplingSettings(
        .5 + random.nextDouble(),
        random.nextBoolean() ? 1 : .3 + .6 * random.nextDouble(),
        random.nextBoolean() ? 0 : 1 + random.nextInt(8),
        random.nextBoolean() ? 0 : .3 * random.nextDouble(),
        random.nextBoolean() ? 1 : .8 + random.nextDouble(),
        6,
        Set.of(),
        List.of(),
        true);
  }

  /**
   * Token by token: the number drawn for it falls into its share of the reference's distribution,
   * and both log-probabilities are the reference's. Mixed settings share batches.
   */
  @Test
  void sample_anySettings_tokensAndLogProbsAreTheReferences() {
    Random random = new Random(11);
    List<SampleRequest> requests = new ArrayList<>();
    for (int g = 1; g <= 200; g++) {
      requests.add(request(g, Integer.toString(random.nextInt(10_000)), random(random)));
    }
    List<List<Completion>> groups = sample(requests);
    for (int g = 0; g < groups.size(); g++) {
      SampleRequest request = requests.get(g);
      for (int i = 0; i < request.completions(); i++) {
        check(request, i, groups.get(g).get(i));
      }
    }
  }

  private static void check(SampleRequest request, int index, Completion completion) {
    int[] ids = request.prompt();
    for (int t = 0; t < completion.length(); t++) {
      Set<Integer> held = new HashSet<>();
      Arrays.stream(ids).forEach(held::add);
      double[] logits = decoder.logits(ids)[ids.length - 1];
      double[] p = ReferenceWeightsDraw.distribution(logits, request.settings(), held);
      int token = completion.tokens()[t];
      double u = CounterRandom.uniform(request.seed(), index, t);
      double below = Arrays.stream(p, 0, token).sum();
      assertThat(u).isBetween(below - CLOSE, below + p[token] + CLOSE);
      assertThat((double) completion.logProbs()[t]).isCloseTo(Math.log(p[token]), within(CLOSE));
      assertThat((double) completion.rawLogProbs()[t])
          .isCloseTo(ReferenceDecoder.logSoftmax(logits, 1)[token], within(CLOSE));
      ids = Arrays.copyOf(ids, ids.length + 1);
      ids[ids.length - 1] = token;
    }
  }

  @Test
  void sample_neutralBesideTruncated_drawsWhatItDrawsAlone() {
    SampleRequest neutral = request(1, "12+34=", new SamplingSettings(1, 8));
    SamplingSettings narrow =
        new SamplingSettings(1, .5, 3, .1, 1.2, 8, Set.of(), List.of(), false);
    List<Completion> alone = sample(List.of(neutral)).getFirst();
    List<Completion> beside = sample(List.of(request(2, "99", narrow), neutral)).get(1);
    for (int i = 0; i < alone.size(); i++) {
      assertThat(beside.get(i).tokens()).isEqualTo(alone.get(i).tokens());
      assertThat(beside.get(i).rawLogProbs()).isEmpty();
    }
  }

  @Test
  void sample_topKOfOne_isCertain() {
    SamplingSettings one = new SamplingSettings(1, 1, 1, 0, 1, 4, Set.of(), List.of(), false);
    for (Completion c : sample(List.of(request(1, "7+7=", one))).getFirst()) {
      assertThat(c.logProbs()).containsExactly(new float[c.length()], within(1e-6f));
    }
  }

  @Test
  void sample_stopString_endsAtTheTokenThatCompletesIt() {
    SampleRequest free = request(1, "1+1=", new SamplingSettings(1.5, 10));
    for (Completion whole : sample(List.of(free)).getFirst()) {
      String text = TOKENIZER.decode(whole.tokens());
      if (text.length() < 4) {
        continue;
      }
      String stop = text.substring(1, 3);
      SamplingSettings stopping =
          new SamplingSettings(1.5, 1, 0, 0, 1, 10, Set.of(), List.of(stop), false);
      int index = 0;
      for (Completion c : sample(List.of(request(1, "1+1=", stopping))).getFirst()) {
        String cut = TOKENIZER.decode(c.tokens());
        assertThat(TOKENIZER.decode(sample(List.of(free)).getFirst().get(index).tokens()))
            .startsWith(cut);
        assertThat(c.finishReason() == FinishReason.STOP_STRING).isEqualTo(cut.endsWith(stop));
        assertThat(cut.indexOf(stop)).isIn(-1, cut.length() - stop.length());
        index++;
      }
    }
  }

  @Test
  void sample_stopId_isKeptAndEnds() {
    SampleRequest free = request(1, "1+1=", new SamplingSettings(1.5, 10));
    int stop = sample(List.of(free)).getFirst().getFirst().tokens()[0];
    SamplingSettings stopping =
        new SamplingSettings(1.5, 1, 0, 0, 1, 10, Set.of(stop), List.of(), false);
    Completion c = sample(List.of(request(1, "1+1=", stopping))).getFirst().getFirst();
    assertThat(c.tokens()).containsExactly(stop);
    assertThat(c.finishReason()).isEqualTo(FinishReason.STOP);
  }
}
