package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.OptimizerSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The result of a step does not depend on how its batch is split into micro-batches. */
final class SplitTest {
  private static final OptimizerSettings LOOK = new OptimizerSettings(0, 0, .9, 1e-8, 0, 0);

  /** Seven sequences of equal length, none of which shares its prompt. */
  private static List<TrainingSequence> batch() {
    Random random = new Random(8);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      float[] behaviour = new float[5];
      float[] weights = new float[5];
      int[] staleness = new int[5];
      for (int t = 0; t < 5; t++) {
        behaviour[t] = -1.5f - random.nextFloat();
        weights[t] = t == i % 4 ? 0 : random.nextFloat() / 7;
        staleness[t] = random.nextInt(3);
      }
      int[] prompt = {2 + i, 3, 4};
      batch.add(
          new TrainingSequence(
                  prompt, Fixtures.tokens(random, 5), behaviour, weights, random.nextGaussian())
              .sampledBehind(staleness));
    }
    return batch;
  }

  /** A trainer whose policy is no longer its reference. No look at a gradient changes it. */
  private static DjlTrainer trainer(int budget) {
    DjlPolicy policy = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    DjlTrainer trainer = (DjlTrainer) policy.newTrainer(2);
    trainer.freezeReference();
    trainer.trainSupervised(batch(), Fixtures.adam(.01));
    trainer.trainSupervised(batch(), new OptimizerSettings(.01, .9, .9, 1e-8, 0, 0));
    return trainer;
  }

  private static Map<String, double[]> gradient(
      DjlTrainer trainer, LossSettings loss, double supervised) {
    List<TrainingSequence> rollouts = batch();
    int topK = loss.shares().distillation().topK();
    if (topK > 0) {
      List<TeacherTokens> teacher = trainer.teacherTokens(rollouts, topK, loss.temperature());
      for (int i = 0; i < rollouts.size(); i++) {
        rollouts.set(i, rollouts.get(i).withTeacher(teacher.get(i)));
      }
    }
    stepped(
        trainer.train(
            rollouts,
            supervised == 0 ? List.of() : batch(),
            loss.withSupervised(supervised),
            LOOK));
    return Fixtures.numbers(trainer.optimizer().first().views());
  }

  private static void assertSameGradients(List<LossSettings> losses, double supervised) {
    // Seven positions are read of each sequence, at most: 1, 2 and 7 micro-batches.
    try (DjlTrainer whole = trainer(1 << 10);
        DjlTrainer halves = trainer(28);
        DjlTrainer sevenths = trainer(7)) {
      for (LossSettings loss : losses) {
        Map<String, double[]> expected = gradient(whole, loss, supervised);
        assertSame(expected, gradient(halves, loss, supervised), loss + " in 2 parts");
        assertSame(expected, gradient(sevenths, loss, supervised), loss + " in 7 parts");
      }
    }
  }

  private static void assertSame(
      Map<String, double[]> expected, Map<String, double[]> actual, String what) {
    assertThat(actual).hasSameSizeAs(expected);
    actual.forEach(
        (name, values) -> {
          double[] whole = Fixtures.of(expected, name);
          double largest = Arrays.stream(whole).map(Math::abs).max().orElseThrow();
          Fixtures.assertClose(
              values, whole, 5e-5 * Math.max(largest, 1e-3), () -> name + " of " + what);
        });
  }

  @Test
  void train_anyObjectiveCorrectionAndMask_hasOneGradientForEverySplit() {
    assertThat(PrefixSharingPlan.of(batch(), 1 << 10)).hasSize(1);
    assertThat(PrefixSharingPlan.of(batch(), 28)).hasSize(2);
    assertThat(PrefixSharingPlan.of(batch(), 7)).hasSize(7);
    assertSameGradients(
        PolicyLossTest.settings().stream().filter(s -> s.clip().low() != 0).toList(), 0);
  }

  @Test
  void train_withTeacherAndExamples_hasOneGradientForEverySplit() {
    LossSettings loss = Fixtures.plainLoss();
    assertSameGradients(
        List.of(
            loss.with(new Distillation.Jsd(.5, .9, 4), .7),
            loss.with(new Distillation.ForwardKl(.5, 4, false), 0)),
        .3);
  }
}
