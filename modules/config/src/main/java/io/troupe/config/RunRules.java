package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.rollout.SidecarsSection;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.task.TaskSection;
import io.troupe.config.training.DistillationSection;
import io.troupe.config.training.LossSection;
import io.troupe.config.training.SupervisedSection;
import io.troupe.config.training.TrainingSection;
import io.troupe.config.training.WarmupSection;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.tracking.TrackerKind;
import java.time.Duration;
import java.util.List;

/** The rules between the sections of a run's configuration. */
final class RunRules {
  private final RunConfig run;
  private final RuleChecker rules;
  private final TaskSection task;
  private final PolicySection policy;
  private final RolloutSection rollout;
  private final EpisodeSection episode;
  private final VerifierSection verifier;
  private final TrainingSection training;
  private final LossSection loss;
  private final DistillationSection distillation;
  private final SupervisedSection supervised;
  private final WarmupSection warmup;
  private final EvaluationSection evaluation;
  private final List<NamedEvaluation> evaluations;
  private final PlacementSection placement;
  private final String room;

  /**
   * Creates the rules of a configuration.
   *
   * @param rules takes the violations
   */
  RunRules(RunConfig run, RuleChecker rules) {
    this.run = run;
    this.rules = rules;
    task = run.task();
    policy = run.policy();
    rollout = run.rollout();
    episode = run.episode();
    verifier = run.verifier();
    training = run.training();
    loss = run.loss();
    distillation = run.distillation();
    supervised = run.supervised();
    warmup = run.warmup();
    evaluation = run.evaluation();
    evaluations = run.evaluations();
    placement = run.placement();
    room =
        "must leave room for a prompt in policy.context_length (%d)"
            .formatted(policy.contextLength());
  }

  /** States the rules that need the configuration alone. */
  void stateSections() {
    limits();
    heldOut();
    trackers();
    namedEvaluations();
    teacher();
    adapters();
    episodes();
    rewards();
    LossRules.state(run, rules);
    if (policy instanceof PolicySection.Toy toy) {
      toyPolicy(toy);
    }
  }

  private void limits() {
    int context = policy.contextLength();
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
  }

  private void heldOut() {
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
  }

  private void trackers() {
    rules
        .on("tracking")
        .require(
            () -> run.tracking().stream().distinct().count() == run.tracking().size(),
            "must name each tracker once",
            "leave one out");
    rules
        .on("tracking", "trackers.mlflow_url")
        .require(
            () ->
                !run.tracking().contains(TrackerKind.MLFLOW)
                    || !run.trackers().mlflowUrl().isEmpty(),
            "needs the address of the MLflow server in trackers.mlflow_url",
            "set it, for example to http://127.0.0.1:5000");
  }

  private void namedEvaluations() {
    NamedEvaluation.checkNames(rules, evaluations);
    List<String> shares = NamedEvaluation.shares(evaluations);
    List<String> rewards = shares.stream().map(NamedEvaluation::rewardOf).toList();
    rules
        .on("evaluation.target_of", "evaluations")
        .require(
            () -> shares.contains(evaluation.targetOf()) || rewards.contains(evaluation.targetOf()),
            "must be a share that passes (%s), or a mean reward (%s)"
                .formatted(String.join(", ", shares), String.join(", ", rewards)),
            "change it");
    rules
        .on("evaluation.target", "evaluation.target_of")
        .require(
            () ->
                rewards.contains(evaluation.targetOf())
                    || (evaluation.target() >= 0 && evaluation.target() <= 1),
            "must be from 0 to 1 for a share that passes",
            "change it, or set target_of to a mean reward, such as reward");
    for (int i = 0; i < evaluations.size(); i++) {
      NamedEvaluation each = evaluations.get(i);
      rules
          .on("evaluations[%d].max_tokens".formatted(i), "policy.context_length")
          .require(
              () -> each.keys().sampling().maxTokens() < policy.contextLength(),
              room,
              "lower it, or raise the context");
      rules
          .on("evaluations[%d].datasets".formatted(i), "task.held_out_share")
          .require(
              () -> !each.keys().datasets().isEmpty() || task.holdsOut(),
              "must list data sets, because the task holds no rows out",
              "list some, or hold prompts out");
    }
  }

  private void teacher() {
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
  }

  private void adapters() {
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
  }

  private void episodes() {
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
  }

  private void rewards() {
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
  }

  private void toyPolicy(PolicySection.Toy toy) {
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

  /**
   * States the rules of a start: a placement without nodes is refused.
   *
   * @param clustered whether the run is the coordinator of a cluster
   */
  void stateStart(boolean clustered) {
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
  void stateTask(TaskFacts facts) {
    lengths(facts);
    counts(facts);
    solutions(facts);
  }

  private void lengths(TaskFacts facts) {
    TaskFacts.Longest longest = facts.longest(run.longestCompletion());
    int sequence = facts.longestSequence(run.longestCompletion());
    rules
        .on("policy.context_length")
        .require(
            () -> policy.contextLength() >= sequence,
            "must hold the longest prompt (%d tokens) and its longest completion (%d)"
                .formatted(
                    longest.promptTokens(), longest.completionTokens(run.longestCompletion())),
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
  }

  private void counts(TaskFacts facts) {
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
  }

  private void solutions(TaskFacts facts) {
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
}
