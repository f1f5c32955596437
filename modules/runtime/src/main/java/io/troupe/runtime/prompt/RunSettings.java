package io.troupe.runtime.prompt;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.run.RunLimits;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.engine.train.OptimizerSettings;

/**
 * The settings of a run besides its task and its policy.
 *
 * @param seed of initial weights, order and sampling
 * @param limits limits by which the coordinator decides
 * @param loss of a step
 * @param optimisation of a step, but for the learning rate
 * @param learningRate of the steps
 * @param sampling of rollouts
 * @param warmup the supervised stage before the first step
 * @param examplesPerStep examples imitated in each step, beside its rollouts
 * @param refreshReferenceEvery steps after which the reference becomes the present policy; 0: never
 * @param teacherPrompt text that a teacher reads before a completion, with {@code {prompt}} and
 *     {@code {solution}} in it; empty means the prompt itself
 * @param workers rollout workers
 * @param groupsPerRequest most groups a worker decodes at a time
 * @param evaluationPrompts most held-out prompts of an evaluation
 * @param evaluationTokens token limit of an evaluation's answers
 * @param keepCheckpoints newest checkpoints to keep
 */
public record RunSettings(
    long seed,
    RunLimits limits,
    LossSettings loss,
    OptimizerSettings optimisation,
    LearningRateSchedule learningRate,
    SourceSampling sampling,
    Warmup warmup,
    int examplesPerStep,
    int refreshReferenceEvery,
    String teacherPrompt,
    int workers,
    int groupsPerRequest,
    int evaluationPrompts,
    int evaluationTokens,
    int keepCheckpoints) {
  /**
   * The supervised stage before the first step.
   *
   * @param steps at most; 0 means none
   * @param untilLoss ends it once the mean loss of ten steps is this low; 0 makes all steps
   * @param batch examples a step
   * @param learningRate constant
   * @param examples number of the training prompts that are imitated; 0 means all
   */
  public record Warmup(int steps, double untilLoss, int batch, double learningRate, int examples) {}

  public RunSettings {
    require(
        (examplesPerStep > 0) == (loss.shares().supervised() > 0),
        "a step has examples exactly when their coefficient is above 0, not %d with %s",
        examplesPerStep,
        loss.shares().supervised());
    require(workers >= 1, "rollout.workers is 1 or greater, not %d", workers);
    require(groupsPerRequest >= 1, "groups_per_request is 1 or greater, not %d", groupsPerRequest);
  }

  /** AdamW's settings in a step. */
  public OptimizerSettings optimisationAt(long step) {
    return withRate(learningRate.at(step, limits.schedule().steps()));
  }

  /** Whether the reference becomes the present policy before a step. */
  public boolean refreshesReferenceBefore(long step) {
    return refreshReferenceEvery > 0 && step > 1 && (step - 1) % refreshReferenceEvery == 0;
  }

  /** AdamW's settings in the warm-up. */
  public OptimizerSettings warmupOptimisation() {
    return withRate(warmup.learningRate());
  }

  private OptimizerSettings withRate(double rate) {
    return new OptimizerSettings(
        rate,
        optimisation.beta1(),
        optimisation.beta2(),
        optimisation.epsilon(),
        optimisation.weightDecay(),
        optimisation.gradientClip());
  }
}
