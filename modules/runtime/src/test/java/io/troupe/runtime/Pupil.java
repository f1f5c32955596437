package io.troupe.runtime;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.LossMetrics;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.Toys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** A training engine that learns nothing and writes down what it is taught. */
final class Pupil implements TrainingEngine {
  /** The input of a step. */
  record Step(List<TrainingSequence> rollouts, List<TrainingSequence> examples) {}

  final List<List<TrainingSequence>> lessons = new ArrayList<>();
  final List<Double> rates = new ArrayList<>();
  final List<Step> steps = new ArrayList<>();

  /** Before which step a reference was frozen, counted from 0. */
  final List<Integer> frozenBefore = new ArrayList<>();

  /** The sequences that its teacher was shown. */
  final List<TrainingSequence> asked = new ArrayList<>();

  /** Whether it has a teacher beside the reference. */
  boolean taught;

  /** The outcome of every step. */
  StepOutcome outcome = stepped(0.5);

  /** The marks of the loss on a sequence's tokens. */
  Function<TrainingSequence, TokenMarks> marks = _ -> TokenMarks.NONE;

  /** The reference's log-probability of every token of a sequence. */
  ToDoubleFunction<TrainingSequence> reference = _ -> -1;

  private static StepOutcome stepped(double loss) {
    LossMetrics metrics =
        new LossMetrics(loss, 0, loss, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    return new StepOutcome.Stepped(metrics, 1, 1, 0, new StepOutcome.Times(0, 0, 0), List.of());
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      OptimizerSettings optimisation) {
    steps.add(new Step(rollouts, examples));
    return switch (outcome) {
      case StepOutcome.Stepped(var metrics, var entropy, var norm, var padding, var times, var _) ->
          new StepOutcome.Stepped(
              metrics, entropy, norm, padding, times, rollouts.stream().map(marks).toList());
      case StepOutcome.Skipped skipped -> skipped;
    };
  }

  @Override
  public List<double[]> logProbs(List<TrainingSequence> batch, double temperature) {
    return batch.stream().map(s -> new double[s.completion().length]).toList();
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    List<double[]> all = new ArrayList<>();
    for (TrainingSequence sequence : batch) {
      double[] logProbs = new double[sequence.completion().length];
      Arrays.fill(logProbs, reference.applyAsDouble(sequence));
      all.add(logProbs);
    }
    return all;
  }

  @Override
  public boolean hasTeacher() {
    return taught;
  }

  @Override
  public List<TeacherTokens> teacherTokens(
      List<TrainingSequence> batch, int topK, double temperature) {
    asked.addAll(batch);
    return batch.stream()
        .map(s -> new TeacherTokens(new int[s.completion().length][topK], rows(s, topK)))
        .toList();
  }

  private float[][] rows(TrainingSequence sequence, int topK) {
    float[][] rows = new float[sequence.completion().length][topK];
    for (float[] row : rows) {
      Arrays.fill(row, (float) reference.applyAsDouble(sequence));
    }
    return rows;
  }

  @Override
  public StepOutcome trainSupervised(List<TrainingSequence> batch, OptimizerSettings optimisation) {
    lessons.add(batch);
    rates.add(optimisation.learningRate());
    return outcome;
  }

  @Override
  public void freezeReference() {
    frozenBefore.add(steps.size());
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    return new WeightSnapshot(version, "", List.of());
  }

  @Override
  public void save(Path directory) {}

  @Override
  public void restore(Path directory) {}

  @Override
  public void close() {}

  /** A room whose trainer it is. */
  EngineRegistry room() {
    return new EngineRegistry(
        new PolicyEngines() {
          @Override
          public Tokenizer tokenizer() {
            return Toys.policy().tokenizer();
          }

          @Override
          public int contextLength() {
            return 8;
          }

          @Override
          public String describe() {
            return "pupil";
          }

          @Override
          public String device() {
            return "none";
          }

          @Override
          public TrainingEngine newTrainer(long seed) {
            return Pupil.this;
          }

          @Override
          public SamplingEngine newSampler() {
            throw new UnsupportedOperationException("a pupil does not answer");
          }

          @Override
          public void close() {}
        });
  }
}
