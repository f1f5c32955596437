package io.troupe.aws.interruption;

/** The metadata's answer about the end of an instance. */
sealed interface Sighting {
  /** The instance stays. */
  record Undisturbed() implements Sighting {}

  /** EC2 advises to move elsewhere, and promises nothing about when. */
  record Rebalance() implements Sighting {}

  /** EC2 takes the instance back. */
  record Interruption(InterruptionNotice notice) implements Sighting {}

  /** The metadata do not answer, or answer nonsense. */
  record Unknown(String reason) implements Sighting {}
}
