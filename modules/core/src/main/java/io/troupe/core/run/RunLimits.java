package io.troupe.core.run;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.StalenessBound;

/**
 * The settings the coordinator decides by.
 *
 * @param prompts choice of the next prompt, and the number of attempts
 * @param groups samples of a prompt, and the groups that are trained on
 * @param step groups of a training step, and their staleness
 * @param schedule times at which the run saves, evaluates and ends
 * @param outages patience with infrastructure that fails
 */
public record RunLimits(
    Prompts prompts, Groups groups, Step step, Schedule schedule, OutageLimits outages) {

  /**
   * The prompts of the training pool.
   *
   * @param size of the pool
   * @param seed of the order of prompts
   * @param sampling rule by which the next prompt is chosen
   * @param maxAttempts failures of a prompt before it is given up for the epoch; two leases that
   *     expire or are lost with their worker count as one, and so do ten that an engine fails
   */
  public record Prompts(int size, long seed, PromptSampling sampling, int maxAttempts) {
    public Prompts {
      require(size >= 1, "the training pool holds at least one prompt, not %d", size);
      require(maxAttempts >= 1, "max_attempts is 1 or greater, not %d", maxAttempts);
    }
  }

  /**
   * The groups of completions.
   *
   * @param size completions of a prompt
   * @param maxConcurrent most groups under lease at a time
   * @param leaseMillis time that a worker has for one group
   * @param filterDegenerate whether groups with equal rewards are put aside
   * @param filterPerfect whether groups whose completions are all right are put aside, whatever
   *     becomes of other groups with equal rewards
   * @param maxFilteredInARow a run with this many filtered groups and none accepted between is
   *     hopeless
   * @param mark by which a completion is right
   */
  public record Groups(
      GroupSize size,
      int maxConcurrent,
      long leaseMillis,
      boolean filterDegenerate,
      boolean filterPerfect,
      long maxFilteredInARow,
      PassMark mark) {
    public Groups {
      require(maxConcurrent >= 1, "max_concurrent_groups is 1 or greater, not %d", maxConcurrent);
      require(leaseMillis >= 1, "a lease lasts 1 ms or more, not %d", leaseMillis);
      require(
          maxFilteredInARow >= 1, "max_filtered_groups is 1 or greater, not %d", maxFilteredInARow);
    }

    /** Groups of one size, G, whose completions are right with the full reward of 1. */
    public Groups(
        int completions,
        int maxConcurrent,
        long leaseMillis,
        boolean filterDegenerate,
        boolean filterPerfect,
        long maxFilteredInARow) {
      this(
          GroupSize.fixed(completions),
          maxConcurrent,
          leaseMillis,
          filterDegenerate,
          filterPerfect,
          maxFilteredInARow,
          PassMark.FULL);
    }
  }

  /**
   * A training step.
   *
   * @param groups B, of a step
   * @param maxStaleness eta
   * @param stale treatment of stale groups
   * @param lockStep one worker and eta = uses - 1: leases are granted only when nothing is under
   *     lease and no step runs, so that the composition of every decode batch, and with it every
   *     rounding, is reproducible
   * @param uses steps that train on a group, at most
   */
  public record Step(int groups, int maxStaleness, StalePolicy stale, boolean lockStep, int uses) {
    public Step {
      require(groups >= 1, "a step trains on 1 or more groups, not %d", groups);
      require(maxStaleness >= 0, "max_staleness is 0 or greater, not %d", maxStaleness);
      require(uses >= 1, "a group is used once or more, not %d times", uses);
      require(
          uses <= maxStaleness + 1L,
          "each use of a group is a version later than the one before, so max_staleness %d allows"
              + " %d uses, not %d",
          maxStaleness,
          maxStaleness + 1L,
          uses);
      require(
          !lockStep || maxStaleness == uses - 1,
          "lock-step with %d uses of a group needs max_staleness %d, not %d",
          uses,
          uses - 1,
          maxStaleness);
    }

    /** A step that no other trains on the groups of. */
    public Step(int groups, int maxStaleness, StalePolicy stale, boolean lockStep) {
      this(groups, maxStaleness, stale, lockStep, 1);
    }
  }

  /**
   * The course of the run.
   *
   * @param steps training steps of the run
   * @param epochs as many admissions as the pool has prompts; 0 means no limit
   * @param checkpointEvery steps between checkpoints; 0 means only at the end
   * @param evaluateEvery steps between evaluations; 0 means never
   * @param evaluationTarget the run is complete once an evaluation reaches it, a share or a mean
   *     reward; 0 means none
   * @param drainMillis time that a drain waits for groups under lease
   */
  public record Schedule(
      long steps,
      long epochs,
      long checkpointEvery,
      long evaluateEvery,
      double evaluationTarget,
      long drainMillis) {
    public Schedule {
      require(steps >= 1, "a run has 1 or more steps, not %d", steps);
      require(
          epochs >= 0 && checkpointEvery >= 0 && evaluateEvery >= 0, "intervals are not negative");
      require(
          Double.isFinite(evaluationTarget),
          "the evaluation's target is a finite number, not %s",
          evaluationTarget);
      require(drainMillis >= 0, "a drain lasts 0 ms or more, not %d", drainMillis);
    }
  }

  /** Returns these limits for prompts that are admitted in the order of the pool. */
  public RunLimits inListedOrder() {
    return withSampling(prompts.sampling.inListedOrder());
  }

  /** Returns these limits with another rule by which prompts are chosen. */
  public RunLimits withSampling(PromptSampling other) {
    return new RunLimits(
        new Prompts(prompts.size, prompts.seed, other, prompts.maxAttempts),
        groups,
        step,
        schedule,
        outages);
  }

  /** Returns these limits for a loss that has nothing to learn from completions that are right. */
  public RunLimits withoutPerfectGroups() {
    return new RunLimits(
        prompts,
        new Groups(
            groups.size,
            groups.maxConcurrent,
            groups.leaseMillis,
            groups.filterDegenerate,
            true,
            groups.maxFilteredInARow,
            groups.mark),
        step,
        schedule,
        outages);
  }

  /** Returns these limits with another patience. */
  public RunLimits withOutages(OutageLimits other) {
    return new RunLimits(prompts, groups, step, schedule, other);
  }

  /** Groups of all steps, each use of a group counted; the greatest number there is if more. */
  long totalUses() {
    return schedule.steps > Long.MAX_VALUE / step.groups
        ? Long.MAX_VALUE
        : schedule.steps * step.groups;
  }

  /** The prompt at a place of the passes over the data. */
  int promptAt(PromptCursor cursor) {
    return prompts.sampling.at(prompts.seed, prompts.size, cursor);
  }

  /** The staleness bound of the run. */
  public StalenessBound bound() {
    return new StalenessBound(step.maxStaleness);
  }
}
