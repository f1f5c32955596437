package io.troupe.core.run;

import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.StalePolicy;

/**
 * Limits for tests, each named: 10 prompts, groups of 2, steps of 2 groups, eta 1, at most 6 groups
 * under lease, 3 attempts, leases of 100 ms, drains of 50 ms, 100 steps, hopeless at 5, pauses of
 * 10 to 80 ms, and a second of outage at most.
 */
public final class Limits {
  static final long LEASE_MILLIS = 100;
  static final long DRAIN_MILLIS = 50;

  static final OutageLimits OUTAGES = new OutageLimits(10, 80, 1_000);

  private int prompts = 10;
  private int groupsPerStep = 2;
  private int maxStaleness = 1;
  private StalePolicy stale = StalePolicy.MASK;
  private int maxConcurrent = 6;
  private boolean filter = true;
  private long steps = 100;
  private long epochs;
  private long checkpointEvery;
  private long evaluateEvery;
  private boolean lockStep;
  private int uses = 1;
  private boolean withoutPerfect;

  Limits prompts(int value) {
    prompts = value;
    return this;
  }

  Limits groupsPerStep(int value) {
    groupsPerStep = value;
    return this;
  }

  Limits stale(StalePolicy policy, int eta) {
    stale = policy;
    maxStaleness = eta;
    return this;
  }

  Limits maxConcurrent(int value) {
    maxConcurrent = value;
    return this;
  }

  Limits withoutFilter() {
    filter = false;
    return this;
  }

  Limits steps(long value) {
    steps = value;
    return this;
  }

  Limits epochs(long value) {
    epochs = value;
    return this;
  }

  Limits checkpointEvery(long value) {
    checkpointEvery = value;
    return this;
  }

  Limits evaluateEvery(long value) {
    evaluateEvery = value;
    return this;
  }

  Limits lockStep() {
    lockStep = true;
    maxStaleness = 0;
    return this;
  }

  Limits uses(int value) {
    uses = value;
    return this;
  }

  Limits withoutPerfectGroups() {
    withoutPerfect = true;
    return this;
  }

  Rehearsal starting() {
    return new Rehearsal(new Coordination(build()));
  }

  /** A run that has begun; what came of it is not kept. */
  public Rehearsal begun() {
    return starting().tell(new Input.Begin());
  }

  RunLimits build() {
    RunLimits limits =
        new RunLimits(
                new RunLimits.Prompts(prompts, 7, PromptSampling.UNIFORM, 3),
                new RunLimits.Groups(2, maxConcurrent, LEASE_MILLIS, filter, false, 5),
                new RunLimits.Step(groupsPerStep, maxStaleness, stale, lockStep, uses),
                new RunLimits.Schedule(
                    steps, epochs, checkpointEvery, evaluateEvery, 0.9, DRAIN_MILLIS),
                OutageLimits.DEFAULT)
            .withOutages(OUTAGES);
    return withoutPerfect ? limits.withoutPerfectGroups() : limits;
  }
}
