package io.troupe.run.supervised;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.core.supervised.SupervisedState;
import io.troupe.core.supervised.SupervisedStep;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Trains the weights of an engine on examples. One platform thread makes all calls; what a step
 * does depends on its number and the weights alone.
 */
public final class SupervisedLoop {
  private final TrainingEngine engine;
  private final List<SupervisedExample> examples;
  private final SupervisedPlan plan;
  private final LongFunction<OptimizerSettings> optimisation;

  /**
   * A loop that has made no step.
   *
   * @param plan over as many rows as there are examples
   * @param optimisation of each step
   */
  public SupervisedLoop(
      TrainingEngine engine,
      List<SupervisedExample> examples,
      SupervisedPlan plan,
      LongFunction<OptimizerSettings> optimisation) {
    this.engine = engine;
    this.examples = List.copyOf(examples);
    this.plan = plan;
    this.optimisation = optimisation;
  }

  /**
   * Trains from a state to the end of the plan, without a journal: for a caller that keeps its own
   * account of what it does.
   *
   * @param progress takes what happens, after each step
   * @param cancelled asked before each step
   * @return the state after the last step
   * @throws IllegalStateException if steps in a row cannot be made
   */
  public SupervisedState train(
      SupervisedState from, Consumer<SupervisedEvent> progress, BooleanSupplier cancelled) {
    SupervisedState state = from;
    while (state.step() < plan.steps() && !cancelled.getAsBoolean()) {
      SupervisedEvent made = step(state.step() + 1);
      state = state.evolve(made);
      progress.accept(made);
      if (state.hopeless()
          && made instanceof SupervisedEvent.StepSkipped(long step, String reason)) {
        throw new IllegalStateException(hopeless(step, reason));
      }
    }
    return state;
  }

  static String hopeless(long step, String reason) {
    return "step %d and the %d before it could not be made: %s; %s"
        .formatted(step, SupervisedState.MOST_SKIPPED - 1, reason, LearningRateSchedule.LOWER_RATE);
  }

  /** Makes one step. */
  SupervisedEvent step(long step) {
    List<SupervisedExample> batch = plan.rowsOf(step).stream().map(examples::get).toList();
    OptimizerSettings settings = optimisation.apply(step);
    long start = System.nanoTime();
    return switch (engine.trainSupervised(SupervisedExample.sequences(batch), settings)) {
      case StepOutcome.Skipped(String reason) -> new SupervisedEvent.StepSkipped(step, reason);
      case StepOutcome.Stepped made ->
          new SupervisedEvent.Stepped(
              new SupervisedStep(
                  step,
                  batch.size(),
                  imitatedTokens(batch),
                  made.loss(),
                  made.gradientNorm(),
                  settings.learningRate(),
                  made.paddingShare(),
                  (System.nanoTime() - start) / 1e9));
    };
  }

  /**
   * Returns the mean of −log p over the imitated tokens of examples, under the current weights.
   *
   * @param batch examples that are computed at a time
   */
  public static double loss(TrainingEngine engine, List<SupervisedExample> examples, int batch) {
    double sum = 0;
    for (int from = 0; from < examples.size(); from += batch) {
      List<SupervisedExample> part =
          examples.subList(from, Math.min(from + batch, examples.size()));
      List<TrainingSequence> sequences = new ArrayList<>(SupervisedExample.sequences(part));
      List<double[]> logProbs = engine.logProbs(sequences, 1);
      for (int i = 0; i < part.size(); i++) {
        boolean[] imitated = part.get(i).imitated();
        for (int t = 0; t < imitated.length; t++) {
          sum -= imitated[t] ? logProbs.get(i)[t] : 0;
        }
      }
    }
    return sum / imitatedTokens(examples);
  }

  private static long imitatedTokens(List<SupervisedExample> examples) {
    return examples.stream().mapToLong(SupervisedExample::imitatedTokens).sum();
  }
}
