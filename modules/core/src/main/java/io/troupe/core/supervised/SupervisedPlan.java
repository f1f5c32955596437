package io.troupe.core.supervised;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.PromptOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of each step of supervised training.
 *
 * <p>An epoch is a permutation of all rows, by the seed and the epoch alone; each of its steps
 * takes the next {@code batch} of them, and its last step takes the rest. So each row is trained
 * exactly once an epoch, and the rows of a step need no state: a resumed run takes the same.
 *
 * @param rows of the training data
 * @param batch most rows of a step
 * @param seed of the permutations
 * @param steps of the run
 */
public record SupervisedPlan(int rows, int batch, long seed, long steps) {
  public SupervisedPlan {
    require(rows >= 1, "supervised training needs at least one row, not %d", rows);
    require(batch >= 1, "a step takes at least one row, not %d", batch);
    require(steps >= 1, "supervised training makes at least one step, not %d", steps);
  }

  /**
   * The plan of a run.
   *
   * @param steps at most; 0 sets no limit
   * @param epochs at most; 0 sets no limit, and one of the two does
   */
  public static SupervisedPlan of(int rows, int batch, long seed, long steps, int epochs) {
    require(steps > 0 || epochs > 0, "a run ends after some steps or epochs; set one of the two");
    require(rows >= 1, "supervised training needs at least one row, not %d", rows);
    require(batch >= 1, "a step takes at least one row, not %d", batch);
    long inEpochs = epochs == 0 ? Long.MAX_VALUE : epochs * stepsPerEpoch(rows, batch);
    return new SupervisedPlan(rows, batch, seed, Math.min(steps == 0 ? inEpochs : steps, inEpochs));
  }

  private static long stepsPerEpoch(int rows, int batch) {
    return ((long) rows + batch - 1) / batch;
  }

  /** The steps that take every row once. */
  public long stepsPerEpoch() {
    return stepsPerEpoch(rows, batch);
  }

  /** The epoch of a step, from 0; steps count from 1. */
  public long epochOf(long step) {
    return (step - 1) / stepsPerEpoch();
  }

  /** The indices of a step's rows, in their order. */
  public List<Integer> rowsOf(long step) {
    require(step >= 1 && step <= steps, "step %d is none of the %d steps of the run", step, steps);
    long epoch = epochOf(step);
    long first = (step - 1) % stepsPerEpoch() * batch;
    List<Integer> chosen = new ArrayList<>();
    for (long position = first; position < Math.min(first + batch, rows); position++) {
      chosen.add(PromptOrder.at(seed, epoch, (int) position, rows));
    }
    return chosen;
  }

  /**
   * Returns the passes over the rows that the steps up to this one make; a part counts as its
   * share.
   */
  public double epochsAfter(long step) {
    long whole = step / stepsPerEpoch();
    long rest = step % stepsPerEpoch() * batch;
    return whole + (double) rest / rows;
  }
}
