package io.troupe.config.plan;

import static io.troupe.core.Require.require;

import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.training.TrainingSection;

/**
 * The capacities of a run, in numbers, by its settings.
 *
 * @param trainingPrompts prompts to train on
 * @param heldOutPrompts prompts kept for evaluation
 * @param evaluatedPrompts prompts of one evaluation; 0 when there is none
 * @param groupsPerStep B
 * @param completionsPerStep B · G
 * @param tokensPerStep most tokens of a batch, prompts repeated for each completion
 * @param groupsOutstanding most groups under lease, or in the buffer or training before a first
 *     use: (η + 1) · B / K
 * @param groupsUnderLease most groups sampled or verified at a time
 * @param groupsDecoded most groups that workers decode at a time
 * @param maxStaleness η, the worst staleness of a token with loss weight
 * @param groupUses K, steps that train on a group at most
 * @param steps training steps, fewer where the epochs end first
 * @param completionsTrained completions of all steps, each use counted
 * @param epochs passes over the training prompts that these steps take, degenerate groups not
 *     counted and each group used K times
 */
public record Capacities(
    long trainingPrompts,
    long heldOutPrompts,
    long evaluatedPrompts,
    long groupsPerStep,
    long completionsPerStep,
    long tokensPerStep,
    long groupsOutstanding,
    long groupsUnderLease,
    long groupsDecoded,
    long maxStaleness,
    long groupUses,
    long steps,
    long completionsTrained,
    double epochs) {

  private static long workerCount(RunConfig config) {
    return config
        .placement()
        .placement()
        .map(placement -> (long) placement.workers())
        .orElse((long) config.rollout().allWorkers());
  }

  /**
   * The numbers of a run.
   *
   * @param facts of its task, which has prompts to train on
   */
  public static Capacities of(RunConfig config, TaskFacts facts) {
    require(facts.trainingPrompts() >= 1, "a task without training prompts trains nothing");
    RolloutSection rollout = config.rollout();
    TrainingSection training = config.training();
    long batch = training.groupsPerStep();
    long completions = batch * rollout.groupSize().most();
    long uses = training.groupUses();
    long outstanding = (training.maxStaleness() + 1L) * batch / uses;
    long leased = Math.min(rollout.maxConcurrentGroups(), outstanding);
    long decoded = Math.min(leased, workerCount(config) * rollout.groupsPerRequest());
    long steps =
        training.epochs() == 0
            ? training.steps()
            : Math.min(
                training.steps(),
                Math.ceilDiv((long) training.epochs() * facts.trainingPrompts() * uses, batch));
    long evaluated =
        config.evaluation().every() == 0
            ? 0
            : Math.min(config.evaluation().prompts(), facts.heldOutPrompts());
    return new Capacities(
        facts.trainingPrompts(),
        facts.heldOutPrompts(),
        evaluated,
        batch,
        completions,
        completions * facts.longestSequence(rollout.maxTokens()),
        outstanding,
        leased,
        decoded,
        training.maxStaleness(),
        uses,
        steps,
        steps * completions,
        (double) (steps * batch) / uses / facts.trainingPrompts());
  }
}
