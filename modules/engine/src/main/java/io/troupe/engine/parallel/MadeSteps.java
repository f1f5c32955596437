package io.troupe.engine.parallel;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What the ranks of a trainer have done since their state was saved, to be done again. */
final class MadeSteps {
  /** Some 400 MB of batches without a teacher's tokens. */
  private static final long MOST_TOKENS = 16_000_000;

  private static final int MOST_STEPS = 100;

  private final List<Made> made = new ArrayList<>();
  private long tokens;

  private sealed interface Made {}

  private record Step(RankBatch batch, OptimizerSettings optimisation) implements Made {}

  private record Freeze() implements Made {}

  void add(RankBatch batch, OptimizerSettings optimisation) {
    made.add(new Step(batch, optimisation));
    tokens += tokens(batch.rollouts()) + tokens(batch.examples());
  }

  private static long tokens(List<TrainingSequence> sequences) {
    return sequences.stream().mapToLong(TrainingSequence::length).sum();
  }

  /** The reference was frozen. */
  void addFreeze() {
    made.add(new Freeze());
  }

  /** Whether the state should be saved before more is done. */
  boolean isFull() {
    return made.size() >= MOST_STEPS || tokens >= MOST_TOKENS;
  }

  void clear() {
    made.clear();
    tokens = 0;
  }

  /** Returns why a rank was lost, and how many steps that costs beside the abandoned one. */
  String describe(String reason) {
    long steps = made.stream().filter(Step.class::isInstance).count();
    return steps == 0
        ? reason
        : "%s; the ranks go back to their last saved state and make %d %s again first"
            .formatted(reason, steps, steps == 1 ? "step" : "steps");
  }

  /** Does everything again with ranks that have begun from the saved state. */
  void makeAgain(TrainerRanks crew) throws IOException, RankLostException {
    for (Made one : made) {
      switch (one) {
        case Step(RankBatch batch, OptimizerSettings optimisation) ->
            requireMoved(crew.step(batch.splitAcross(crew.size()), optimisation));
        case Freeze() -> crew.freezeReference();
      }
    }
  }

  private static void requireMoved(List<RankStepOutcome> outcomes) {
    for (RankStepOutcome outcome : outcomes) {
      if (outcome instanceof RankStepOutcome.Refused(String reason)) {
        throw new IllegalStateException(
            "trainer ranks refuse a step that they made before: %s; resume the run"
                .formatted(reason.isEmpty() ? "the norm is not finite" : reason));
      }
    }
  }
}
