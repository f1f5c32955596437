package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.testkit.Await;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Samples for a person who tries the policy. */
class AdHocSamplingTest {
  private static final long PATIENCE_SECONDS = 60;

  private final AtomicInteger made = new AtomicInteger();
  private final InMemoryWeights weights = new InMemoryWeights();
  private final Deque<Runnable> later = new ArrayDeque<>();
  @AutoClose private final EngineRegistry room = new EngineRegistry(counting(Toys.policy()));
  private final AdHocSampling tryout = new AdHocSampling(room, weights::newest, later::add);

  private PolicyEngines counting(PolicyEngines policy) {
    return new PolicyEngines() {
      @Override
      public Tokenizer tokenizer() {
        return policy.tokenizer();
      }

      @Override
      public int contextLength() {
        return policy.contextLength();
      }

      @Override
      public String describe() {
        return policy.describe();
      }

      @Override
      public String device() {
        return policy.device();
      }

      @Override
      public TrainingEngine newTrainer(long seed) {
        return policy.newTrainer(seed);
      }

      @Override
      public SamplingEngine newSampler() {
        made.incrementAndGet();
        return policy.newSampler();
      }

      @Override
      public void close() {
        policy.close();
      }
    };
  }

  private void publish(long version) {
    publish(Toys.policy().newTrainer(1).snapshot(new WeightVersion(version)));
  }

  private void publish(WeightSnapshot snapshot) {
    weights.publish(snapshot).toCompletableFuture().join();
  }

  private AdHocSampling.StartResult begin(TokenListener listener) {
    return tryout.begin(
        Toys.policy().tokenizer().encode("1+1="), new SamplingSettings(1, 3), 7, listener);
  }

  private Completion draw() throws Exception {
    return end(begin(TokenListener.NONE))
        .toCompletableFuture()
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static CompletionStage<Completion> end(AdHocSampling.StartResult begin) {
    assertThat(begin).isInstanceOf(AdHocSampling.Sampling.class);
    return ((AdHocSampling.Sampling) begin).end();
  }

  @Test
  void begin_nothingPublished_makesNoEngine() {
    assertThat(begin(TokenListener.NONE)).isEqualTo(new AdHocSampling.NoWeights());
    assertThat(made).hasValue(0);
  }

  @Test
  void begin_newerWeightsPublished_drawsByThemOnTheSameEngine() throws Exception {
    publish(0);
    Completion first = draw();
    publish(3);
    Completion second = draw();
    assertThat(first.versions())
        .isEqualTo(TokenVersions.uniform(new WeightVersion(0), first.length()));
    assertThat(second.versions())
        .isEqualTo(TokenVersions.uniform(new WeightVersion(3), second.length()));
    assertThat(second.tokens()).isEqualTo(first.tokens());
    assertThat(made).hasValue(1);
  }

  @Test
  void begin_whileOneIsDrawn_isBusyUntilThatIsStopped() throws Exception {
    publish(0);
    CountDownLatch drawing = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AdHocSampling.StartResult first =
        begin(
            (_, _, _, _) -> {
              drawing.countDown();
              Await.latch(go);
            });
    drawing.await();
    assertThat(begin(TokenListener.NONE)).isEqualTo(new AdHocSampling.Busy());
    ((AdHocSampling.Sampling) first).stop().run();
    go.countDown();
    assertThatThrownBy(() -> end(first).toCompletableFuture().join())
        .hasRootCauseInstanceOf(CancellationException.class);
    assertThat(draw().length()).isPositive();
    assertThat(made).hasValue(1);
  }

  @Test
  void unused_forAWhile_engineIsClosedAndTheNextQuestionMakesAnother() throws Exception {
    publish(0);
    draw();
    draw();
    later.removeFirst().run();
    draw();
    assertThat(made).hasValue(1);
    later.removeLast().run();
    draw();
    assertThat(made).hasValue(2);
  }

  @Test
  void begin_weightsThatCannotBeLoaded_failsAndLeavesNoEngine() throws Exception {
    publish(Toys.BROKEN);
    assertThatThrownBy(this::draw).hasCauseInstanceOf(IllegalArgumentException.class);
    publish(2);
    assertThat(draw().versions().newest()).isEqualTo(new WeightVersion(2));
    assertThat(made).hasValue(2);
  }

  @Test
  void begin_afterTheRun_isRefused() {
    publish(0);
    room.close();
    assertThatThrownBy(() -> begin(TokenListener.NONE))
        .hasMessage("the engines of this process are closed");
  }
}
