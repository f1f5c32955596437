package io.troupe.config;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.rollout.SidecarsSection;
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
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.tracking.TrackerKind;
import java.nio.file.Path;
import java.time.Duration;
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
    int context = policy.contextLength();
    String room = "must leave room for a prompt in policy.context_length (%d)".formatted(context);
    rules
        .on("rollout.max_tokens", "policy.context_length")
        .require(() -> rollout.maxTokens() < context, room, "lower it, or raise the context");
    rules
        .on("evaluation.max_tokens", "policy.context_length")
        .require(() -> evaluation.maxTokens() < context, room, "lower it, or raise the context");
    rules
        .on("loss.objective", "placement.ranks_as")
        .require(
            () ->
                loss.objective() != LossSection.ObjectiveName.OWN
                    || placement.nodes() == 0
                    || placement.ranksAs() == PlacementSection.RanksAs.THREADS,
            "must not be own where trainer ranks are processes, which the jar does not reach",
            "set placement.ranks_as: threads");
    rules
        .on("loss.overlong_buffer", "rollout.max_tokens")
        .require(
            () -> loss.overlongBuffer() <= rollout.maxTokens(),
            "must not exceed rollout.max_tokens (%d)".formatted(rollout.maxTokens()),
            "lower it, or raise the limit");
    rules
        .on("evaluation.every", "task.held_out_share")
        .require(
            () -> evaluation.every() == 0 || task.holdsOut(),
            "needs prompts to evaluate on, and task.held_out_share is 0",
            "set it to 0, or hold prompts out");
    rules
        .on("placement.evaluation_gpus", "placement.nodes", "policy.device")
        .require(
            () ->
                placement.evaluationGpus() == 0
                    || placement.nodes() > 0
                    || !policy.computesOn().startsWith("cuda"),
            "must be 0 in a run of one process on a GPU, which has no other for the watcher",
            "place the run by `troupe train FILE --gpus LIST`, or set it to 0");
    rules
        .on("placement.evaluation_gpus", "task.held_out_share", "evaluation.watch_file")
        .require(
            () ->
                placement.evaluationGpus() == 0
                    || task.holdsOut()
                    || !evaluation.watchFile().isEmpty(),
            "needs prompts to evaluate on, and task.held_out_share is 0",
            "set it to 0, hold prompts out, or name a file of tasks in evaluation.watch_file");
    NamedEvaluation.checkNames(rules, evaluations);
    List<String> names = evaluations.stream().map(NamedEvaluation::name).toList();
    rules
        .on("tracking")
        .require(
            () -> tracking.stream().distinct().count() == tracking.size(),
            "must name each tracker once",
            "leave one out");
    rules
        .on("tracking", "trackers.mlflow_url")
        .require(
            () -> !tracking.contains(TrackerKind.MLFLOW) || !trackers.mlflowUrl().isEmpty(),
            "needs the address of the MLflow server in trackers.mlflow_url",
            "set it, for example to http://127.0.0.1:5000");
    rules
        .on("evaluation.target_of", "evaluations")
        .require(
            () ->
                evaluation.targetOf().equals(NamedEvaluation.HELD_OUT)
                    || names.contains(evaluation.targetOf()),
            "must be held_out or a name under evaluations (%s)".formatted(String.join(", ", names)),
            "change it");
    for (int i = 0; i < evaluations.size(); i++) {
      NamedEvaluation each = evaluations.get(i);
      rules
          .on("evaluations[%d].max_tokens".formatted(i), "policy.context_length")
          .require(
              () -> each.keys().sampling().maxTokens() < context,
              room,
              "lower it, or raise the context");
      rules
          .on("evaluations[%d].datasets".formatted(i), "task.held_out_share")
          .require(
              () -> !each.keys().datasets().isEmpty() || task.holdsOut(),
              "must list data sets, because the task holds no rows out",
              "list some, or hold prompts out");
    }
    rules
        .on("verifier.timeout", "rollout.lease_timeout")
        .require(
            () -> verifier.timeout().compareTo(rollout.leaseTimeout()) < 0,
            "must be below rollout.lease_timeout, which spans sampling and verification",
            "lower it, or raise rollout.lease_timeout");
    rules
        .on("distillation.teacher_urls", "rollout.temperature")
        .require(
            () -> !distillation.hasTeacherServers() || rollout.temperature() == 1,
            "report their distribution at temperature 1 only",
            "set rollout.temperature to 1, or leave them out");
    rules
        .on("distillation.teacher", "policy.engine")
        .require(
            () -> !(distillation.hasTeacher() && policy instanceof PolicySection.Toy),
            "must be empty with policy.engine toy, whose table nobody else computes",
            "leave it out, or take policy.engine djl");
    rules
        .on("rollout.publish", "policy.engine", "policy.lora.rank")
        .require(
            () ->
                !rollout.publishesAdapters()
                    || (policy instanceof PolicySection.Pretrained base
                        && base.compute().lora().enabled()),
            "(adapters) needs a policy that trains adapters beside a checkpoint, which the servers"
                + " have as well",
            "take policy.engine pretrained and set policy.lora.rank, or set rollout.publish:"
                + " merged");
    rules
        .on("policy.lora.rank", "rollout.publish", "rollout.sidecars.server")
        .require(
            () ->
                !rollout.publishesAdapters()
                    || rollout.sidecars().count() == 0
                    || rollout.sidecars().server() != SidecarsSection.Server.VLLM
                    || !(policy instanceof PolicySection.Pretrained base)
                    || base.compute().lora().rank() <= ServerCommand.Adapters.HIGHEST_RANK,
            "must not exceed %d with rollout.publish: adapters, the highest rank that vLLM takes"
                .formatted(ServerCommand.Adapters.HIGHEST_RANK),
            "lower it, or set rollout.publish: merged");
    rules
        .on("episode.environment.name", "episode.agent.command", "policy.engine")
        .require(
            () -> !episode.hasTurns() || !(policy instanceof PolicySection.Toy),
            "needs an engine that samples a turn at any place of a context, and with stop texts",
            "take policy.engine djl or pretrained, or leave it out");
    rules
        .on("episode.format", "policy.engine")
        .require(
            () ->
                !episode.hasTurns()
                    || episode.format() == EpisodeSection.Format.INLINE
                    || policy instanceof PolicySection.Pretrained,
            "must be inline for a policy that is made from random weights: it has no chat template",
            "set it to inline, or take policy.engine pretrained");
    rules
        .on("episode.environment.tools", "task.name")
        .require(
            () -> task.folderSources().isEmpty() || !episode.environment().tools().isEmpty(),
            "must have shell, python or files: task folders are worked on in a sandbox",
            "write episode.environment.tools: [shell]");
    rules
        .on("verifier.rewards", "episode.environment")
        .require(
            () ->
                episode.hasTools()
                    || verifier.rewards().stream().noneMatch(VerifierSection.Reward::isOfTurns),
            "must not have turns without an environment, which alone rewards calls",
            "name an episode.environment, or leave turns out");
    rules
        .on("verifier.rewards", "episode.environment", "episode.agent.command")
        .require(
            () ->
                episode.hasTurns()
                    || verifier.rewards().stream()
                        .noneMatch(reward -> reward.over() == VerifierSection.Over.TRACE),
            "must not have over: trace where an episode is one answer",
            "write over: answer, or name an episode.environment or an episode.agent");
    rules
        .on("episode.agent.timeout", "rollout.lease_timeout")
        .require(
            () ->
                !episode.hasAgent()
                    || episode.agent().timeout().compareTo(rollout.leaseTimeout()) < 0,
            "must be below rollout.lease_timeout, which spans the episode and its verification",
            "lower it, or raise rollout.lease_timeout");
    if (policy instanceof PolicySection.Toy toy) {
      rules
          .on(
              "policy.engine",
              "rollout.top_p",
              "rollout.top_k",
              "rollout.min_p",
              "rollout.repetition_penalty",
              "rollout.stop")
          .require(
              rollout::isPlain,
              "must be djl for top_p, top_k, min_p, repetition_penalty and stop strings",
              "leave these out, or take policy.engine djl");
      Duration longest = toy.tokenDelay().multipliedBy(rollout.maxTokens());
      rules
          .on("rollout.lease_timeout", "policy.token_delay", "rollout.max_tokens")
          .require(
              () -> rollout.leaseTimeout().compareTo(longest) > 0,
              "must exceed policy.token_delay × rollout.max_tokens (%d ms), or no group ever ends"
                  .formatted(longest.toMillis()),
              "raise it, or lower the delay");
    }
  }

  /**
   * States the rules of a start: a placement without nodes is refused.
   *
   * @param clustered whether the run is the coordinator of a cluster
   */
  public void checkStart(boolean clustered, RuleChecker rules) {
    rules
        .on("rollout.publish", "rollout.sidecars.count")
        .require(
            () -> !clustered || !rollout.publishesAdapters() || rollout.sidecars().count() == 0,
            "must be merged in a run with --cluster whose nodes start servers: what travels to"
                + " nodes is merged",
            "leave it out, name servers by rollout.endpoints.urls, which the coordinator drives, or"
                + " train without --cluster");
    if (placement.nodes() == 0) {
      return;
    }
    rules
        .on("placement.nodes")
        .require(
            () -> clustered,
            "must be 0 in a run without --cluster, where everything is in this process",
            "pass --cluster and start `troupe node` on each host, or set it to 0");
    rules
        .on("placement.reference_workers")
        .require(
            () -> placement.referenceWorkers() == 0,
            "must be 0: the trainer computes the reference's log-probabilities so far",
            "set it to 0");
    rules
        .on("placement.tensor_parallel")
        .require(
            () ->
                placement.tensorParallel()
                    == (rollout.workers() == 0 ? rollout.sidecars().tensorParallel() : 1),
            "must be rollout.sidecars.tensor_parallel where servers do all of the sampling, and 1"
                + " elsewhere: an engine of ours has one GPU so far",
            "set both to the same number, or this one to 1");
  }

  /** States the rules that need the task's size. */
  public void check(TaskFacts facts, RuleChecker rules) {
    TaskFacts.Longest longest = facts.longest(longestCompletion());
    int sequence = facts.longestSequence(longestCompletion());
    rules
        .on("policy.context_length")
        .require(
            () -> policy.contextLength() >= sequence,
            "must hold the longest prompt (%d tokens) and its longest completion (%d)"
                .formatted(longest.promptTokens(), longest.completionTokens(longestCompletion())),
            "raise it to %d or more, or leave out long prompts".formatted(sequence));
    int kvTokens = policy.kvTokens();
    if (kvTokens > 0 && rollout.samplesGroupsHere()) {
      long needed =
          DjlPolicy.cacheTokens(
              rollout.completionsPerPrompt(),
              facts.longestSequence(rollout.maxTokens()),
              policy.contextLength());
      rules
          .on("policy.kv_tokens", "rollout.completions_per_prompt", "rollout.max_tokens")
          .require(
              () -> kvTokens >= needed,
              "must hold the longest group: %d completions need room for %d tokens"
                  .formatted(rollout.completionsPerPrompt(), needed),
              "raise it to at least that, or ask for fewer or shorter completions");
    }
    rules
        .on("distillation.top_k")
        .require(
            () ->
                distillation.divergence() == DistillationSection.Divergence.NONE
                    || distillation.topK() <= facts.vocabularySize(),
            "must not exceed the vocabulary (%d tokens)".formatted(facts.vocabularySize()),
            "lower it");
    rules
        .on("training.groups_per_step")
        .require(
            () -> training.groupsPerStep() <= facts.trainingPrompts(),
            "must not exceed the task's training prompts (%d)".formatted(facts.trainingPrompts()),
            "lower it, or enlarge the task");
    rules
        .on("evaluation.every")
        .require(
            () -> evaluation.every() == 0 || facts.heldOutPrompts() > 0,
            "needs prompts to evaluate on, and the task holds out none",
            "set it to 0, or raise task.held_out_share");
    String lacking =
        "needs a solution to imitate of every training prompt, and %d of %d have none"
            .formatted(facts.withoutSolution(), facts.trainingPrompts());
    rules
        .on("warmup.steps")
        .require(
            () -> warmup.steps() == 0 || facts.withoutSolution() == 0,
            lacking,
            "set it to 0, or give the rows solutions");
    rules
        .on("supervised.batch")
        .require(
            () ->
                supervised.batch() == 0
                    || !supervised.datasets().isEmpty()
                    || facts.withoutSolution() == 0,
            lacking,
            "set it to 0, give the rows solutions, or name supervised.datasets");
    rules
        .on("warmup.examples")
        .require(
            () -> warmup.examples() <= facts.trainingPrompts(),
            "must not exceed the task's training prompts (%d)".formatted(facts.trainingPrompts()),
            "lower it; 0 takes all");
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
                    rollout.groupSize(),
                    rollout.maxConcurrentGroups(),
                    rollout.leaseTimeout().toMillis(),
                    training.filterDegenerate(),
                    false,
                    training.cannotProgressAfter()),
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
