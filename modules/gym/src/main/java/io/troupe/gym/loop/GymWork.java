package io.troupe.gym.loop;

/** The next work; the same work again, after a crash, gives the same result. */
public sealed interface GymWork {
  /** The work of one trial. */
  sealed interface OfTrial extends GymWork {
    int trial();
  }

  /** Makes the base student of a trial's seed. */
  record MakeBase(int trial) implements OfTrial {}

  /** Has the student of an iteration answer a split. */
  record Evaluate(int trial, int iteration, Split split) implements OfTrial {}

  /** Has the agent make rows, from the validation of the last student. */
  record Propose(int trial, int iteration) implements OfTrial {}

  /** Checks the proposed rows. */
  record Check(int trial, int iteration) implements OfTrial {}

  /** Trains the base on all rows that were kept. */
  record Train(int trial, int iteration) implements OfTrial {}

  /** All trials have ended. */
  record Finished() implements GymWork {}
}
