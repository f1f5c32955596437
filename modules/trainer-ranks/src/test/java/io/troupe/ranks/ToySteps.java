package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.SequenceMask;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Steps of the toy policy, the same for every trainer. */
final class ToySteps {
  static final ToySettings POLICY = new ToySettings("abcdef", 16, 4, 7, Duration.ZERO);

  /** Every part of a loss that a rank must be told. */
  private static final LossSettings LOSS =
      new LossSettings(
              new Objective.Dapo(),
              .2,
              .28,
              new Correction.TruncatedImportance(3),
              .1,
              KlEstimator.K3,
              1)
          .with(new SequenceMask.Geometric(.01, 100))
          .with(new Distillation.Jsd(.3, .5, 2), 1)
          .withSupervised(.5);

  private static final OptimizerSettings ADAM = new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, .5);

  private ToySteps() {}

  /** One step, which succeeds. */
  static void make(TrainingEngine trainer, int step) {
    assertThat(trainer.train(batch(step, 9), batch(step, 2), LOSS, ADAM))
        .isInstanceOf(StepOutcome.Stepped.class);
  }

  /** All weights of a trainer. */
  private static List<Float> weights(TrainingEngine trainer) {
    List<Float> weights = new ArrayList<>();
    float[] all =
        trainer
            .snapshot(WeightVersion.BASE)
            .tensors()
            .getFirst()
            .data()
            .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    for (float weight : all) {
      weights.add(weight);
    }
    return weights;
  }

  /** The weights that so many steps make of the trainer of one thread. */
  static List<Float> alone(int steps) {
    try (TrainingEngine trainer = new ToyPolicy(POLICY).newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < steps; step++) {
        make(trainer, step);
      }
      return weights(trainer);
    }
  }

  /** Holds a trainer of ranks against that. */
  static void assertAlone(TrainingEngine trainer, int steps) {
    List<Float> whole = alone(steps);
    List<Float> weights = weights(trainer);
    assertThat(weights).hasSameSizeAs(whole);
    for (int i = 0; i < whole.size(); i++) {
      assertThat(weights.get(i)).isCloseTo(whole.get(i), within(1e-5f));
    }
  }

  private static List<TrainingSequence> batch(int step, int size) {
    SplittableRandom random = new SplittableRandom(step);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < size; s++) {
      int[] prompt = random.ints(3, 2, 8).toArray();
      int[] completion = random.ints(1 + random.nextInt(4), 2, 8).toArray();
      float[] behaviour = new float[completion.length];
      float[] lossWeights = new float[completion.length];
      int[] staleness = new int[completion.length];
      TeacherTokens teacher =
          new TeacherTokens(new int[completion.length][2], new float[completion.length][2]);
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) -random.nextDouble(1.5, 2.5);
        lossWeights[t] = 1f / 28;
        staleness[t] = t % 2;
        for (int k = 0; k < 2; k++) {
          teacher.ids()[t][k] = 2 + k;
          teacher.logProbs()[t][k] = -1 - k;
        }
      }
      boolean taught = s % 3 > 0;
      batch.add(
          new TrainingSequence(prompt, completion, behaviour, lossWeights, random.nextDouble(-1, 1))
              .sampledBehind(staleness)
              .withTeacher(taught ? teacher : TeacherTokens.NONE)
              .withTeacherWeight(taught ? 1.5 : 0));
    }
    return batch;
  }
}
