package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.ADAM;
import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.StepLoss;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.train.LogProbPass;
import io.troupe.engine.djl.train.MicroBatch;
import io.troupe.engine.djl.train.PrefixSharingPlan;
import io.troupe.engine.djl.train.TokenRows;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.testkit.Await;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Engines in one process do not disturb each other, nor does Java's garbage collector. */
final class IsolationTest {
  private static final LossSettings LOSS =
      Fixtures.loss(new Correction.TruncatedImportance(2), .1, KlEstimator.K3);

  private static List<StepOutcome> train(TrainingEngine trainer, int steps, Runnable between) {
    List<StepOutcome> outcomes = new ArrayList<>();
    trainer.freezeReference();
    for (int step = 0; step < steps; step++) {
      outcomes.add(
          Fixtures.untimed(trainer.train(Fixtures.groups(new Random(step), 4, 4), LOSS, ADAM)));
      between.run();
    }
    return outcomes;
  }

  @Test
  void train_besideASampler_losesNoBit() {
    DjlPolicy policy = Fixtures.policy(TINY);
    List<StepOutcome> alone;
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      alone = train(trainer, 60, () -> {});
    }
    AtomicLong sampled = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch busy = new CountDownLatch(1);
    try (TrainingEngine trainer = policy.newTrainer(1);
        SamplingEngine sampler = policy.newSampler()) {
      sampler.load(trainer.snapshot(WeightVersion.BASE));
      keepSampling(sampler, sampled, stop, busy);
      Await.latch(busy);
      AtomicLong version = new AtomicLong();
      List<StepOutcome> together =
          train(
              trainer,
              60,
              () -> sampler.load(trainer.snapshot(new WeightVersion(version.incrementAndGet()))));
      stop.set(true);
      assertThat(together).isEqualTo(alone);
      assertThat(sampled.get()).isPositive();
    }
  }

  /** Samples for as long as the flag allows; each answer starts the next request. */
  private static void keepSampling(
      SamplingEngine sampler, AtomicLong sampled, AtomicBoolean stop, CountDownLatch busy) {
    long group = sampled.incrementAndGet();
    var _ =
        sampler
            .sample(List.of(Fixtures.request(group, "12+34=", 16, group)))
            .getFirst()
            .thenRun(
                () -> {
                  busy.countDown();
                  if (!stop.get()) {
                    keepSampling(sampler, sampled, stop, busy);
                  }
                });
  }

  /**
   * DJL's own arrays may lend PyTorch the memory of a Java buffer, which a collection between
   * forward and backward takes away under autograd, silently. Nothing here may.
   */
  @Test
  void backward_afterGarbageCollections_gradientIsExact() {
    try (TrainingEngine quiet = Fixtures.policy(TINY).newTrainer(5);
        Decoder decoder = new Decoder(TINY, TOKENIZER.vocabularySize());
        ModelWeights weights = ModelWeights.zeros(decoder.layout());
        FlatGradients gradients = FlatGradients.of(decoder, weights.flatLayout());
        AdamW optimizer = new AdamW(decoder, weights)) {
      WeightSnapshot start = quiet.snapshot(WeightVersion.BASE);
      weights.load(start);
      LossSettings loss = Fixtures.loss(new Correction.None(), 0, KlEstimator.K3);
      quiet.train(Fixtures.groups(new Random(9), 4, 4), loss, ADAM);
      for (int round = 0; round < 5; round++) {
        weights.load(start);
        GradientLeaves leaves = GradientLeaves.of(weights, false);
        gradientsWithCollectionsBetween(decoder, leaves);
        optimizer.first().fill((_, memory) -> memory.fill((byte) 0));
        optimizer.second().fill((_, memory) -> memory.fill((byte) 0));
        optimizer.restoreSteps(0);
        Torch.enter(1, false);
        gradients.clear();
        gradients.add(leaves);
        optimizer.step(gradients, ADAM);
        leaves.close();
        assertThat(weights.snapshot(WeightVersion.BASE).digest())
            .isEqualTo(quiet.snapshot(WeightVersion.BASE).digest());
      }
    }
  }

  private static void gradientsWithCollectionsBetween(Decoder decoder, GradientLeaves leaves) {
    Torch.enter(1, true);
    PrefixSharingPlan plan =
        PrefixSharingPlan.of(Fixtures.groups(new Random(9), 4, 4), 1 << 14).getFirst();
    LossSettings loss = Fixtures.loss(new Correction.None(), 0, KlEstimator.K3);
    LogProbPass logProbs;
    try (MicroBatch part = MicroBatch.pack(plan, 0);
        TorchProgram.Call call = decoder.call("log_probs", leaves)) {
      logProbs = LogProbPass.of(call, part, part.heads(), 1);
    }
    for (int i = 0; i < 3; i++) {
      System.gc();
      for (int j = 0; j < 200; j++) {
        ByteBuffer garbage = ByteBuffer.allocateDirect(256 + 64 * j);
        while (garbage.hasRemaining()) {
          garbage.put((byte) 0x7f);
        }
      }
    }
    try (logProbs;
        NativeTensor gradient =
            NativeTensor.zeros(NativeTensor.ElementType.FLOAT32, logProbs.tokens(), 1)) {
      StepLoss step = new StepLoss();
      List<TokenRows> derivatives = LogProbPass.rows(plan, gradient, 1);
      for (int i = 0; i < derivatives.size(); i++) {
        double[] now = logProbs.rows(plan).get(i).column(0);
        TrainingSequence sequence = plan.rows().get(i).part().sequence();
        derivatives
            .get(i)
            .put(0, step.add(loss, sequence, new StepLoss.Computed(now, now, now)).byLogProb());
      }
      TorchBridge.backward(logProbs.values().handle(), gradient.handle());
    }
  }

  @Test
  void enter_threadsOfOneThread_stayWhenAnotherAsksForMore() throws InterruptedException {
    Torch.load();
    Torch.enter(1, false);
    AtomicLong others = new AtomicLong();
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  Torch.enter(2, false);
                  others.set(TorchBridge.threads());
                });
    other.join();
    assertThat(others.get()).isEqualTo(2);
    assertThat(TorchBridge.threads()).isEqualTo(1);
  }

  @Test
  void close_enginesStillOpen_isRefused() {
    DjlPolicy policy = Fixtures.policy(TINY);
    TrainingEngine trainer = policy.newTrainer(1);
    SamplingEngine sampler = policy.newSampler();
    assertThatThrownBy(policy::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("2 engines are open; close trainers and samplers before the policy");
    trainer.close();
    sampler.close();
    policy.close();
  }

  @Test
  void describe_tinyPolicy_countsItsParameters() {
    DjlPolicy policy = Fixtures.policy(TINY);
    assertThat(policy.describe())
        .isEqualTo(
            "Qwen3 decoder, 2 layers of 8, 4 heads of 4 (2 kv), feed-forward 12, context 16,"
                + " vocabulary 14 (tied), 0.00M parameters");
    assertThat(policy.device())
        .isEqualTo("cpu, PyTorch %s, threads: trainer 1, sampler 1".formatted(Torch.load()));
  }
}
