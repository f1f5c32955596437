package io.troupe.core.run;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.StalenessBound;

/**
 * The settings the coordinator decides by.
 *
 * @param prompts size of the training pool
 * @param seed of the order of prompts
 * @param completionsPerPrompt G, 2 or more
 * @param groupsPerStep B
 * @param maxStaleness eta
 * @param stale what becomes of stale groups
 * @param maxConcurrentGroups most groups under lease at a time
 * @param filterDegenerate whether groups with equal rewards are put aside
 * @param maxAttempts failures of a prompt before it is given up for the epoch; two leases that
 *     expire or are lost with their worker count as one, and so do ten that an engine fails
 * @param leaseMillis how long a worker may take for one group
 * @param drainMillis how long a drain waits for groups under lease
 * @param steps training steps of the run
 * @param epochs as many admissions as the pool has prompts; 0 means no limit
 * @param checkpointEvery steps between checkpoints; 0 means only at the end
 * @param evaluateEvery steps between evaluations; 0 means never
 * @param evaluationTarget the run is complete once an evaluation reaches it, in [0, 1]; 0 means
 *     none
 * @param maxFilteredInARow a run with this many filtered groups and none accepted between is
 *     hopeless
 * @param lockStep one worker and eta 0: leases are granted only when nothing is under lease, so
 *     that the composition of every decode batch, and with it every rounding, is reproducible
 * @param sampling how the next prompt is chosen
 * @param filterPerfect whether groups whose completions are all right are put aside, whatever
 *     becomes of other groups with equal rewards
 * @param outages how patient the run is with infrastructure that fails
 */
public record RunLimits(
    int prompts,
    long seed,
    int completionsPerPrompt,
    int groupsPerStep,
    int maxStaleness,
    StalePolicy stale,
    int maxConcurrentGroups,
    boolean filterDegenerate,
    int maxAttempts,
    long leaseMillis,
    long drainMillis,
    long steps,
    long epochs,
    long checkpointEvery,
    long evaluateEvery,
    double evaluationTarget,
    long maxFilteredInARow,
    boolean lockStep,
    PromptSampling sampling,
    boolean filterPerfect,
    OutageLimits outages) {
  public RunLimits {
    require(prompts >= 1, "the training pool holds at least one prompt, not %d", prompts);
    require(
        completionsPerPrompt >= 2,
        "a group has 2 or more completions, not %d",
        completionsPerPrompt);
    require(groupsPerStep >= 1, "a step trains on 1 or more groups, not %d", groupsPerStep);
    require(maxStaleness >= 0, "max_staleness is 0 or greater, not %d", maxStaleness);
    require(
        maxConcurrentGroups >= 1,
        "max_concurrent_groups is 1 or greater, not %d",
        maxConcurrentGroups);
    require(maxAttempts >= 1, "max_attempts is 1 or greater, not %d", maxAttempts);
    require(leaseMillis >= 1, "a lease lasts 1 ms or more, not %d", leaseMillis);
    require(drainMillis >= 0, "a drain lasts 0 ms or more, not %d", drainMillis);
    require(steps >= 1, "a run has 1 or more steps, not %d", steps);
    require(
        epochs >= 0 && checkpointEvery >= 0 && evaluateEvery >= 0, "intervals are not negative");
    require(
        evaluationTarget >= 0 && evaluationTarget <= 1,
        "the evaluation's target lies in [0, 1], not %s",
        evaluationTarget);
    require(
        maxFilteredInARow >= 1, "max_filtered_groups is 1 or greater, not %d", maxFilteredInARow);
    require(
        !lockStep || maxStaleness == 0, "lock-step needs max_staleness 0, not %d", maxStaleness);
  }

  /** Limits of a run that shuffles its prompts in every epoch. */
  public RunLimits(
      int prompts,
      long seed,
      int completionsPerPrompt,
      int groupsPerStep,
      int maxStaleness,
      StalePolicy stale,
      int maxConcurrentGroups,
      boolean filterDegenerate,
      int maxAttempts,
      long leaseMillis,
      long drainMillis,
      long steps,
      long epochs,
      long checkpointEvery,
      long evaluateEvery,
      double evaluationTarget,
      long maxFilteredInARow,
      boolean lockStep) {
    this(
        prompts,
        seed,
        completionsPerPrompt,
        groupsPerStep,
        maxStaleness,
        stale,
        maxConcurrentGroups,
        filterDegenerate,
        maxAttempts,
        leaseMillis,
        drainMillis,
        steps,
        epochs,
        checkpointEvery,
        evaluateEvery,
        evaluationTarget,
        maxFilteredInARow,
        lockStep,
        PromptSampling.UNIFORM,
        false,
        OutageLimits.DEFAULT);
  }

  /** These limits for prompts that are admitted in the order of the pool. */
  public RunLimits inListedOrder() {
    return with(sampling.inListedOrder(), filterPerfect, outages);
  }

  /** These limits with another rule by which prompts are chosen. */
  public RunLimits withSampling(PromptSampling other) {
    return with(other, filterPerfect, outages);
  }

  /** These limits for a loss that has nothing to learn from completions that are right. */
  public RunLimits withoutPerfectGroups() {
    return with(sampling, true, outages);
  }

  /** These limits with another patience. */
  public RunLimits withOutages(OutageLimits other) {
    return with(sampling, filterPerfect, other);
  }

  private RunLimits with(PromptSampling choice, boolean withoutPerfect, OutageLimits patience) {
    return new RunLimits(
        prompts,
        seed,
        completionsPerPrompt,
        groupsPerStep,
        maxStaleness,
        stale,
        maxConcurrentGroups,
        filterDegenerate,
        maxAttempts,
        leaseMillis,
        drainMillis,
        steps,
        epochs,
        checkpointEvery,
        evaluateEvery,
        evaluationTarget,
        maxFilteredInARow,
        lockStep,
        choice,
        withoutPerfect,
        patience);
  }

  /** Groups that the run trains on, at most; the greatest number there is if they are more. */
  long groups() {
    return steps > Long.MAX_VALUE / groupsPerStep ? Long.MAX_VALUE : steps * groupsPerStep;
  }

  /** The prompt at a place of the passes over the data. */
  int promptAt(PromptCursor cursor) {
    return sampling.at(seed, prompts, cursor);
  }

  /** The staleness bound of the run. */
  public StalenessBound bound() {
    return new StalenessBound(maxStaleness);
  }
}
