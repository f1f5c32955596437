package io.troupe.soak;

import java.util.SplittableRandom;

/** The faults that a soak injects into a run. */
enum RunFault {
  /** kill -9 of the run's process. */
  KILL(40),
  /** SIGTERM: the run drains, saves and ends. */
  DRAIN(15),
  /** SIGTERM twice: the run ends from its last checkpoint. */
  SECOND_SIGNAL(5),
  /** kill -9 of a program of the run: a verifier, an agent, an agent's sandbox; it continues. */
  PROGRAM(30),
  /** SIGSTOP for up to two seconds, as a machine does that swaps; the run continues. */
  PAUSE(10);

  private final int weight;

  RunFault(int weight) {
    this.weight = weight;
  }

  static RunFault any(SplittableRandom random) {
    int sum = 0;
    for (RunFault fault : values()) {
      sum += fault.weight;
    }
    int dice = random.nextInt(sum);
    for (RunFault fault : values()) {
      dice -= fault.weight;
      if (dice < 0) {
        return fault;
      }
    }
    return KILL;
  }

  /** Whether the run's process is meant to end by it. */
  boolean ends() {
    return switch (this) {
      case KILL, DRAIN, SECOND_SIGNAL -> true;
      case PROGRAM, PAUSE -> false;
    };
  }
}
