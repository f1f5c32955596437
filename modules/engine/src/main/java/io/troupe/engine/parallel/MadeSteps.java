package io.troupe.engine.parallel;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The steps of a trainer's ranks since their state was saved, to be made again. */
final class MadeSteps {
  /** Some 400 MB of batches without a teacher's tokens. */
  private static final long MOST_TOKENS = 16_000_000;

  private static final int MOST_STEPS = 100;

  private final List<Step> made = new ArrayList<>();
  private long tokens;

  /** Steps from the saved state to the last common step of the ranks. */
  private int reached;

  private record Step(RankBatch batch, OptimizerSettings optimisation) {}

  /** Notes a step that all ranks have made. */
  void add(RankBatch batch, OptimizerSettings optimisation) {
    made.add(new Step(batch, optimisation));
    reached = made.size();
    tokens += tokens(batch.rollouts()) + tokens(batch.examples());
  }

  private static long tokens(List<TrainingSequence> sequences) {
    return sequences.stream().mapToLong(TrainingSequence::length).sum();
  }

  /** Whether the state should be saved before more is done. */
  boolean isFull() {
    return made.size() >= MOST_STEPS || tokens >= MOST_TOKENS;
  }

  void clear() {
    made.clear();
    tokens = 0;
    reached = 0;
  }

  /**
   * Brings ranks that have begun from the saved state to where they were: from copies in their
   * memory, or by making every step again.
   */
  void restore(TrainerRanks ranks) throws IOException, RankLostException {
    if (reached > 0) {
      Optional<String> lacking = ranks.recover(reached);
      if (lacking.isPresent()) {
        reached = 0;
        ranks.wentBack(made.size(), lacking.get());
      }
    }
    while (reached < made.size()) {
      Step next = made.get(reached);
      requireMoved(ranks.step(next.batch.splitAcross(ranks.size()), next.optimisation));
      reached++;
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
