package io.troupe.engine.djl;

import static io.troupe.engine.djl.Fixtures.TINY;
import static io.troupe.engine.djl.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.train.Distillation;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TeacherTokens;
import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.Optimisation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The result of a step does not depend on how its batch is split into micro-batches. */
final class SplitTest {
  private static final Optimisation LOOK = new Optimisation(0, 0, .9, 1e-8, 0, 0);

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

  private static Map<String, double[]> gradient(int budget, LossSettings loss, double supervised) {
    DjlPolicy policy = DjlPolicy.create(TINY, TOKENIZER, ComputeSettings.of(1, 1, budget));
    try (DjlTrainer trainer = (DjlTrainer) policy.newTrainer(2)) {
      trainer.freezeReference();
      trainer.imitate(batch(), Fixtures.adam(.01));
      trainer.imitate(batch(), new Optimisation(.01, .9, .9, 1e-8, 0, 0));
      List<TrainingSequence> rollouts = batch();
      int topK = loss.distillation().topK();
      if (topK > 0) {
        List<TeacherTokens> teacher = trainer.teacherTokens(rollouts, topK, loss.temperature());
        for (int i = 0; i < rollouts.size(); i++) {
          rollouts.set(i, rollouts.get(i).taughtBy(teacher.get(i)));
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
  }

  private static void assertSameGradient(LossSettings loss, double supervised) {
    // Seven positions are read of each sequence, at most: 1, 2 and 7 micro-batches.
    Map<String, double[]> whole = gradient(1 << 10, loss, supervised);
    for (int budget : new int[] {28, 7}) {
      gradient(budget, loss, supervised)
          .forEach(
              (name, values) -> {
                double[] expected = Fixtures.of(whole, name);
                double largest = 0;
                for (double value : expected) {
                  largest = Math.max(largest, Math.abs(value));
                }
                assertThat(values)
                    .as("%s of %s in parts of %d", name, loss, budget)
                    .containsExactly(expected, within(1e-5 * Math.max(largest, 1e-3)));
              });
    }
  }

  @Test
  void train_anyObjectiveCorrectionAndMask_hasOneGradientForEverySplit() {
    assertThat(SequencePlan.of(batch(), 1 << 10)).hasSize(1);
    assertThat(SequencePlan.of(batch(), 28)).hasSize(2);
    assertThat(SequencePlan.of(batch(), 7)).hasSize(7);
    PolicyLossTest.settings().stream()
        .filter(s -> s.clipLow() != 0)
        .forEach(s -> assertSameGradient(s, 0));
  }

  @Test
  void train_withTeacherAndExamples_hasOneGradientForEverySplit() {
    LossSettings loss = Fixtures.plainLoss();
    assertSameGradient(loss.with(new Distillation.Jsd(.5, .9, 4), .7), .3);
    assertSameGradient(loss.with(new Distillation.ForwardKl(.5, 4, false), 0), .3);
  }
}
