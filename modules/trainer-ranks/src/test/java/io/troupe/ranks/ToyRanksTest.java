package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.accelerator.host.SharedMemoryCollective;
import io.troupe.accelerator.host.SharedMemoryGroups;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.CollectiveFactory;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.ThreadRanks;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The toy policy's trainer over ranks, as a run drives it, against the one of a single thread. */
final class ToyRanksTest {
  private static final ToySettings POLICY = new ToySettings("abcdef", 16, 4, 7, Duration.ZERO);
  private static final LossSettings LOSS =
      new LossSettings(
          new Objective.Dapo(), .2, .28, new Correction.None(), 0.1, KlEstimator.K3, 1);
  private static final OptimizerSettings OPTIMISATION =
      new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, .5);
  private static final int STEPS = 6;

  @TempDir private Path folder;

  private static List<TrainingSequence> batch(int step) {
    SplittableRandom random = new SplittableRandom(step);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < 7; s++) {
      int[] prompt = random.ints(3, 2, 8).toArray();
      int[] completion = random.ints(1 + random.nextInt(4), 2, 8).toArray();
      float[] behaviour = new float[completion.length];
      float[] lossWeights = new float[completion.length];
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) -random.nextDouble(1.5, 2.5);
        lossWeights[t] = 1f / 28;
      }
      batch.add(
          new TrainingSequence(
              prompt, completion, behaviour, lossWeights, random.nextDouble(-1, 1)));
    }
    return batch;
  }

  private ToyPolicy over(int ranks, CollectiveFactory groups) {
    ToyPolicy plain = new ToyPolicy(POLICY);
    return plain.by(
        () ->
            new ThreadRanks(
                ranks, groups, folder.resolve("states"), () -> plain.newRank(ranks), groups::lost));
  }

  private record Trained(
      List<Float> weights, List<Double> losses, List<Double> norms, List<TokenMarks> marks) {}

  /** A warm-up step, a frozen reference, and steps of which the middle one follows a resume. */
  private Trained train(String name, ToyPolicy policy) throws IOException {
    List<Double> losses = new ArrayList<>();
    List<Double> norms = new ArrayList<>();
    List<TokenMarks> marks = new ArrayList<>();
    Path saved = Files.createDirectory(folder.resolve(name));
    try (TrainingEngine trainer = policy.newTrainer(3)) {
      trainer.trainSupervised(batch(100), OPTIMISATION);
      trainer.freezeReference();
      steps(trainer, 0, STEPS / 2, losses, norms, marks);
      trainer.save(saved);
    }
    try (TrainingEngine trainer = policy.newTrainer(4)) {
      trainer.restore(saved);
      steps(trainer, STEPS / 2, STEPS, losses, norms, marks);
      return new Trained(weights(trainer), losses, norms, marks);
    }
  }

  private static List<Float> weights(TrainingEngine trainer) {
    List<Float> weights = new ArrayList<>();
    for (float weight :
        trainer
            .snapshot(new WeightVersion(STEPS))
            .tensors()
            .getFirst()
            .data()
            .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)) {
      weights.add(weight);
    }
    return weights;
  }

  private static void steps(
      TrainingEngine trainer,
      int from,
      int to,
      List<Double> losses,
      List<Double> norms,
      List<TokenMarks> marks) {
    for (int step = from; step < to; step++) {
      StepOutcome.Stepped stepped =
          (StepOutcome.Stepped) trainer.train(batch(step), LOSS, OPTIMISATION);
      losses.add(stepped.loss());
      norms.add(stepped.gradientNorm());
      marks.addAll(stepped.marks());
    }
  }

  private static void assertSame(Trained ranks, Trained whole) {
    for (int i = 0; i < whole.weights().size(); i++) {
      assertThat(ranks.weights().get(i)).isCloseTo(whole.weights().get(i), within(1e-5f));
    }
    for (int step = 0; step < STEPS; step++) {
      assertThat(ranks.losses().get(step)).isCloseTo(whole.losses().get(step), within(1e-5));
      assertThat(ranks.norms().get(step)).isCloseTo(whole.norms().get(step), within(1e-5));
    }
    assertThat(ranks.marks()).isEqualTo(whole.marks());
    assertThat(whole.marks()).hasSize(STEPS * 7).anyMatch(one -> !one.high().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void train_overRanks_isTheTrainerOfOneThread(int ranks) throws IOException {
    CollectiveFactory groups = new SharedMemoryGroups(Duration.ofSeconds(60));
    assertSame(train("ranks", over(ranks, groups)), train("whole", new ToyPolicy(POLICY)));
  }

  /** The second step after the reference was frozen is lost; threads make the first one again. */
  @ParameterizedTest
  @EnumSource(DyingCollective.Exchange.class)
  void train_aRankLostInAnExchange_hasTheBitsOfARunWithoutLoss(DyingCollective.Exchange exchange)
      throws IOException {
    Losing groups = new Losing(1, 3, exchange);
    SharedMemoryGroups sound = new SharedMemoryGroups(Duration.ofSeconds(60));
    assertThat(train("ranks", over(2, groups))).isEqualTo(train("sound", over(2, sound)));
    assertThat(groups.reasons)
        .hasSize(2)
        .contains(
            "ranks that are threads keep no copies of their state; the ranks go back to their last"
                + " saved state and make 1 step again first");
    assertThat(groups.reasons.getFirst()).startsWith("trainer rank 1 is lost: ");
  }

  @Test
  void train_manyGroupsLost_isNeverGivenUp() throws IOException {
    Losing groups = new Losing(7, 1, DyingCollective.Exchange.GATHER);
    assertSame(train("ranks", over(2, groups)), train("whole", new ToyPolicy(POLICY)));
    assertThat(groups.reasons).hasSize(7).allMatch(reason -> reason.contains("rank 1 is lost"));
  }

  /** Without a checkpoint the ranks save their state for themselves, and then a rank is lost. */
  @Test
  void train_manyStepsWithoutACheckpoint_makesFewAgain() {
    Losing groups = new Losing(1, 105, DyingCollective.Exchange.NORM);
    try (TrainingEngine lossy = over(2, groups).newTrainer(3);
        TrainingEngine sound = new ToyPolicy(POLICY).newTrainer(3)) {
      for (TrainingEngine trainer : List.of(lossy, sound)) {
        for (int step = 0; step < 106; step++) {
          assertThat(trainer.trainSupervised(batch(step), OPTIMISATION))
              .isInstanceOf(StepOutcome.Stepped.class);
        }
      }
      assertThat(weights(lossy))
          .usingElementComparator((a, b) -> Math.abs(a - b) < 1e-5 ? 0 : 1)
          .isEqualTo(weights(sound));
    }
    assertThat(groups.reasons).hasSize(2);
    assertThat(groups.reasons.getLast()).endsWith("make 4 steps again first");
  }

  /** The same thread would fail again, so the step is not made again. */
  @Test
  void step_aRankFailsByItsOwnFault_failsTheTrainer() throws Exception {
    TrainerRank broken = new IdleRank();
    RankBatch batch = new RankBatch.Examples(batch(0));
    try (ThreadRanks ranks =
        new ThreadRanks(
            2,
            new SharedMemoryGroups(Duration.ofSeconds(60)),
            folder.resolve("states"),
            () -> broken,
            _ -> {})) {
      ranks.begin(folder);
      assertThatThrownBy(() -> ranks.step(batch.splitAcross(2), OPTIMISATION))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("trainer rank 0 failed: java.lang.IllegalStateException: out of memory");
    }
  }

  /** Groups of which the first ones lose rank 1 in an exchange of a step, counted from 1. */
  private static final class Losing implements CollectiveFactory {
    private final List<String> reasons = new ArrayList<>();
    private final int groups;
    private final int step;
    private final DyingCollective.Exchange exchange;
    private int opened;

    Losing(int groups, int step, DyingCollective.Exchange exchange) {
      this.groups = groups;
      this.step = step;
      this.exchange = exchange;
    }

    @Override
    public List<Collective> open(int ranks) throws IOException {
      List<Collective> group = SharedMemoryCollective.group(ranks, Duration.ofSeconds(60));
      if (opened++ < groups) {
        return List.of(
            group.get(0),
            new DyingCollective(
                group.get(1),
                step,
                exchange,
                () -> {
                  group.get(1).close();
                  throw new RankLostException(1, "the device fell off the bus");
                }));
      }
      return group;
    }

    @Override
    public void lost(String reason) {
      reasons.add(reason);
    }
  }
}
