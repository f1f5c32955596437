package io.troupe.gym.loop;

/** What is to be done next; doing it again, after a crash, gives the same. */
public sealed interface GymWork {
  /** Makes the base student of a trial's seed. */
  record MakeBase(int trial) implements GymWork {}

  /** Has the student of an iteration answer a split. */
  record Evaluate(int trial, int iteration, Split split) implements GymWork {}

  /** Has the agent make rows, from the validation of the last student. */
  record Propose(int trial, int iteration) implements GymWork {}

  /** Checks the proposed rows. */
  record Check(int trial, int iteration) implements GymWork {}

  /** Trains the base on all rows that were kept. */
  record Train(int trial, int iteration) implements GymWork {}

  /** All trials have ended. */
  record Finished() implements GymWork {}
}
