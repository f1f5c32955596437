package io.troupe.config;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.schema.Doc;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.TaskSection;
import io.troupe.config.training.DistillationSection;
import io.troupe.config.training.LossSection;
import io.troupe.config.training.SupervisedSection;
import io.troupe.config.training.TrainingSection;
import io.troupe.config.training.WarmupSection;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.run.RunLimits;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.tracking.TrackerKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** The configuration of a run. */
public record RunConfig(
    @Doc("The run as a whole.") RunSection run,
    @Doc("What the policy learns: prompts, and the verifier of its answers.") TaskSection task,
    @Doc("Where published data sets are found, and what becomes of prompts that are too long.")
        DataSection data,
    @Doc("The policy and the engine that computes it.") PolicySection policy,
    @Doc("Supervised steps before the first rollout.") WarmupSection warmup,
    @Doc("How completions are sampled.") RolloutSection rollout,
    @Doc("Turns with tools or an agent: docs/episodes.md.") EpisodeSection episode,
    @Doc("The pool that scores completions.") VerifierSection verifier,
    @Doc("The training steps: what enters one, and how it moves the weights.")
        TrainingSection training,
    @Doc("The loss; `troupe plan FILE` prints its formula with numbers.") LossSection loss,
    @Doc("What the policy learns from the reference policy's distributions.")
        DistillationSection distillation,
    @Doc("Examples imitated within each training step.") SupervisedSection supervised,
    @Doc("Greedy answers to held-out prompts.") EvaluationSection evaluation,
    @Doc(
            "Further evaluations of the same weights, each with a name, prompts, an interval and a"
                + " sampling of its own: docs/evaluation.md.")
        List<NamedEvaluation> evaluations,
    @Doc("What survives the process.") CheckpointSection checkpoint,
    @Doc("What a run keeps of its own history: docs/operations.md.") RecordingSection recording,
    @Doc(
            "Where the run is sent while it continues: a list of `wandb`, `mlflow`, `tensorboard`"
                + " and `trackio`. docs/tracking.md has the rest.")
        List<TrackerKind> tracking,
    @Doc("How the trackers get the run: docs/tracking.md.") TrackersSection trackers,
    @Doc("Programs of yours that the run starts, by the shell: docs/operations.md.")
        HooksSection on,
    @Doc("The ops console: docs/console.md.") ConsoleSection console,
    @Doc("Which roles run on which accelerators of which nodes.") PlacementSection placement,
    @Doc("The run over many JVMs: docs/cluster.md.") ClusterSection cluster)
    implements Validated {
  /**
   * Reads a run's configuration.
   *
   * @param overrides assignments of the command line, such as {@code training.steps=20}
   * @throws io.troupe.config.binding.ConfigurationException with everything wrong with it
   */
  public static ResolvedConfig<RunConfig> load(Path file, List<String> overrides) {
    return ConfigurationFile.load(RunConfig.class, file, overrides);
  }

  @Override
  public void check(RuleChecker rules) {
    new RunRules(this, rules).stateSections();
  }

  /**
   * States the rules of a start: a placement without nodes is refused.
   *
   * @param clustered whether the run is the coordinator of a cluster
   */
  public void checkStart(boolean clustered, RuleChecker rules) {
    new RunRules(this, rules).stateStart(clustered);
  }

  /** States the rules that need the task's size. */
  public void check(TaskFacts facts, RuleChecker rules) {
    new RunRules(this, rules).stateTask(facts);
  }

  /** The type of the numbers in which whole weights reach nodes and servers. */
  public DType publishedType() {
    return policy.bytesOfNumber() == DType.BF16.bytes() ? DType.BF16 : DType.F32;
  }

  /** The loss of every step. */
  public LossSettings lossSettings() {
    return LossResolver.of(this);
  }

  /** AdamW of the supervised warm-up. */
  public OptimizerSettings warmupOptimisation() {
    return training.optimizer().settings(warmup.learningRate());
  }

  /** Returns the limits by which the coordinator decides. */
  public RunLimits limits(TaskFacts facts) {
    RunLimits limits =
        new RunLimits(
                new RunLimits.Prompts(
                    facts.trainingPrompts(),
                    run.seed(),
                    PromptSampling.UNIFORM,
                    rollout.maxAttempts()),
                new RunLimits.Groups(
                    rollout.groupSize().by(verifier.mark()),
                    rollout.maxConcurrentGroups(),
                    rollout.leaseTimeout().toMillis(),
                    training.filterDegenerate(),
                    false,
                    training.cannotProgressAfter(),
                    verifier.mark()),
                new RunLimits.Step(
                    training.groupsPerStep(),
                    training.maxStaleness(),
                    training.stale(),
                    lockStep(),
                    training.groupUses()),
                new RunLimits.Schedule(
                    training.steps(),
                    training.epochs(),
                    checkpoint.every(),
                    evaluationInterval(),
                    evaluation.target(),
                    run.drainTimeout().toMillis()),
                OutageLimits.DEFAULT)
            .withOutages(OutageLimits.ofTimeout(rollout.outageTimeout().toMillis()))
            .withSampling(task.choice().rule());
    return distillation.discards() ? limits.withoutPerfectGroups() : limits;
  }

  /** Returns the sampling of rollouts. */
  public SamplingSettings sampling() {
    return new SamplingSettings(
        rollout.temperature(),
        rollout.topP(),
        rollout.topK(),
        rollout.minP(),
        rollout.repetitionPenalty(),
        rollout.maxTokens(),
        Set.copyOf(rollout.stopTokenIds()),
        rollout.stop(),
        false);
  }

  /** The greatest interval whose multiples are the steps of all evaluations; 0 without any. */
  private long evaluationInterval() {
    return evaluations.stream()
        .mapToLong(NamedEvaluation::every)
        .reduce(evaluation.every(), RunConfig::greatestCommonDivisor);
  }

  private static long greatestCommonDivisor(long one, long other) {
    return other == 0 ? one : greatestCommonDivisor(other, one % other);
  }

  /** Whether the run makes any evaluation. */
  public boolean evaluates() {
    return evaluationInterval() > 0;
  }

  /** Returns the sampling of answers to held-out prompts. */
  public SamplingSettings evaluationSampling() {
    return new SamplingSettings(
        0,
        1,
        0,
        0,
        1,
        evaluationTokens(),
        Set.copyOf(rollout.stopTokenIds()),
        rollout.stop(),
        false);
  }

  /**
   * Whether the run is reproducible bit for bit on the CPU: one worker, and a bound on staleness
   * that leaves no version for sampling beside the steps.
   */
  public boolean lockStep() {
    return training.maxStaleness() == training.groupUses() - 1 && rollout.allWorkers() == 1;
  }

  /** Most tokens of a completion, trained on or evaluated. */
  public int longestCompletion() {
    return Math.max(rollout.maxTokens(), evaluationTokens());
  }

  private int evaluationTokens() {
    return evaluation.maxTokens() == 0 ? rollout.maxTokens() : evaluation.maxTokens();
  }
}
