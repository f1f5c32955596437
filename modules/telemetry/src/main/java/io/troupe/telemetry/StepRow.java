package io.troupe.telemetry;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * The measurements of one training step: a row of the training screen and a line of metrics.jsonl.
 * Each component's definition is on it, and in docs/metrics.md.
 *
 * <p>As JSON a row is one flat object with the components' names in snake_case: without {@code
 * eval} when no evaluation ran, without the measures of training before the first step, and without
 * those of episodes where each was one answer. A number that is not finite is null in JSON, and a
 * dash or inf on the screen.
 *
 * @param evaluations results of the named evaluations of this step; in JSON each is {@code
 *     eval_NAME}
 * @param training absent in the row before any step
 * @param episodes absent where every episode since the last step was one answer
 */
public record StepRow(
    @MetricDefinition(
            column = "step",
            unit = "steps",
            meaning = "optimizer steps since the start of the run; step n makes weight version n",
            reading = "0 is the row before any step")
        long step,
    @MetricDefinition(
            column = "time",
            unit = "s",
            meaning = "time since this process began training; begins again at a resume",
            reading = "its growth from row to row is the time of a step")
        double seconds,
    @MetricDefinition(
            column = "eval",
            unit = "0 to 1",
            meaning =
                "share of held-out prompts whose greedy answer, by this step's weights, passes",
            reading = "high: the policy has learnt; absent when no evaluation ran")
        OptionalDouble eval,
    Map<String, Double> evaluations,
    Optional<Training> training,
    Optional<Episodes> episodes) {
  public StepRow {
    evaluations = Collections.unmodifiableMap(new TreeMap<>(evaluations));
  }

  /** A row without named evaluations and episodes. */
  public StepRow(long step, double seconds, OptionalDouble eval, Optional<Training> training) {
    this(step, seconds, eval, Map.of(), training, Optional.empty());
  }

  /** The measurements that only a step has. */
  public record Training(
      @MetricDefinition(
              column = "reward",
              unit = "reward",
              meaning = "mean reward of all rollouts of the groups scored since the last step",
              reading =
                  "high: the policy solves the training prompts; rising reward with flat eval is"
                      + " reward hacking or overfitting")
          double reward,
      @MetricDefinition(
              column = "stale max",
              unit = "versions",
              meaning = "greatest staleness among the tokens trained on",
              reading =
                  "at the bound: rollouts are slower than training, more workers or smaller groups"
                      + " make them faster; never above max_staleness")
          long stalenessMax,
      @MetricDefinition(
              column = "stale mean",
              unit = "versions",
              meaning = "mean staleness of the tokens trained on",
              reading = "high: the step learns from an old policy; 0 is on-policy")
          double stalenessMean,
      @MetricDefinition(
              column = "degen",
              unit = "share",
              meaning =
                  "degenerate groups (all rewards equal) among the groups scored since the last"
                      + " step",
              reading = "high: prompts too easy or too hard; rollouts are spent without a signal")
          double degenerateShare,
      @MetricDefinition(
              column = "lost",
              unit = "share",
              meaning =
                  "groups lost (worker gone, lease expired, verifier failed) among those ended"
                      + " since the last step",
              reading = "above a few percent: look for dying or overloaded workers")
          double lostShare,
      @MetricDefinition(
              column = "len",
              unit = "tokens",
              meaning = "mean length of the completions scored since the last step",
              reading =
                  "near the token limit: answers are cut off; falling to 1: the policy collapses")
          double length,
      @MetricDefinition(
              column = "kl",
              unit = "nats",
              meaning = "behaviour KL: k3 estimate of KL(sampler || trainer) per trained token",
              reading =
                  "above 0.1: the weights moved far since sampling, or the engines' arithmetic"
                      + " differs; lower the learning rate, or add workers so that rollouts keep"
                      + " up")
          double kl,
      @MetricDefinition(
              column = "grad",
              unit = "L2 norm",
              meaning = "global norm of the gradient, before clipping",
              reading =
                  "spikes: a bad batch, or a learning rate that is too high; 0: nothing to learn")
          double gradientNorm,
      @MetricDefinition(
              column = "wait for",
              unit = "",
              meaning =
                  "what most of the time since the last step went to: trainer (it computed), or,"
                      + " while it was idle, rollout, verifier or workers (nobody asked for work)",
              reading = "the bottleneck; trainer means rollouts keep up")
          String waitedFor,
      @MetricDefinition(
              column = "tok/s",
              unit = "tokens/s",
              meaning =
                  "tokens of the completions scored since the last step, over the time since then",
              reading = "high: rollouts are fast")
          double tokensPerSecond,
      @MetricDefinition(
              unit = "nats",
              meaning = "value of the loss before the step",
              reading = "not a measure of progress: its expectation under GRPO is near 0")
          double loss,
      @MetricDefinition(
              unit = "1",
              meaning = "learning rate of the step",
              reading = "follows the schedule")
          double learningRate,
      @MetricDefinition(
              unit = "nats",
              meaning = "mean entropy of the policy at each trained token",
              reading = "falling to 0: the policy stops exploring and rewards will stop rising")
          double entropy,
      @MetricDefinition(
              unit = "share",
              meaning = "trained tokens whose ratio fell below the clip range",
              reading = "high: many tokens are pushed down further than one step should")
          double clippedLow,
      @MetricDefinition(
              unit = "share",
              meaning = "trained tokens whose ratio rose above the clip range",
              reading = "high: many tokens are pushed up further than one step should")
          double clippedHigh,
      @MetricDefinition(
              unit = "nats",
              meaning = "largest difference of a token's log-probability, trainer against sampler",
              reading =
                  "above 1 with staleness 0: sampler and trainer do not compute the same policy")
          double behaviourGap,
      @MetricDefinition(
              unit = "nats",
              meaning =
                  "mean difference |log p - log q| of a trained token, trainer against "
                      + "sampler",
              reading =
                  "grows with staleness and learning rate; above 0.05 with staleness 0: "
                      + "the engines differ")
          double behaviourGapMean,
      @MetricDefinition(
              unit = "nats",
              meaning = "0.99-quantile of |log p - log q| over the trained tokens",
              reading = "how far the tail is off; compare with behaviour_gap, the largest")
          double behaviourGapP99,
      @MetricDefinition(
              unit = "ratio",
              meaning = "median of p/q over the trained tokens, trainer against sampler",
              reading = "1 when on-policy")
          double ratioP50,
      @MetricDefinition(
              unit = "ratio",
              meaning = "0.9-quantile of p/q",
              reading = "above 1 + clip_high: a tenth of the tokens is beyond the clip range")
          double ratioP90,
      @MetricDefinition(
              unit = "ratio",
              meaning = "0.99-quantile of p/q",
              reading = "above the correction's cap: its weights are cut")
          double ratioP99,
      @MetricDefinition(
              unit = "ratio",
              meaning = "largest p/q",
              reading = "spikes: tokens the sampler all but excluded")
          double ratioMax,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "effective sample size of the importance weights p/q over the number of "
                      + "trained tokens",
              reading =
                  "1: on-policy; below 0.5: few tokens carry the step; lower the learning rate, or"
                      + " add workers so that rollouts keep up")
          double effectiveShare,
      @MetricDefinition(
              unit = "share",
              meaning = "trained tokens whose importance weight was cut to the correction's cap",
              reading = "high: the correction is biased; the policy moved far since sampling")
          double truncatedShare,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "trained tokens the correction gave no weight, by IcePop's range, the cap of"
                      + " decoupled or the sequence mask",
              reading =
                  "high: most of the step teaches nothing; widen the range, lower the learning"
                      + " rate, or add workers so that rollouts keep up")
          double correctionMaskedShare,
      @MetricDefinition(
              unit = "nats",
              meaning = "KL(policy || reference) by the loss's estimator; 0 without a reference",
              reading = "high: the policy is far from where it started")
          double referenceKl,
      @MetricDefinition(
              unit = "nats",
              meaning =
                  "mean divergence from the teacher per token that it spoke of; 0 without a"
                      + " distillation",
              reading = "falling: the policy learns what the teacher says")
          double distillation,
      @MetricDefinition(
              unit = "nats",
              meaning =
                  "negative log-likelihood of the step's examples per token; 0 without "
                      + "examples",
              reading = "falling: the policy still fits the examples")
          double supervisedLoss,
      @MetricDefinition(
              unit = "tokens",
              meaning = "tokens of the step with a loss weight above 0",
              reading = "high: much signal in the step")
          long trainedTokens,
      @MetricDefinition(
              unit = "tokens",
              meaning = "tokens of the step without loss weight because they were too stale",
              reading = "high: sampling is wasted; lower the number of rollouts in flight")
          long maskedTokens,
      @MetricDefinition(
              unit = "share",
              meaning = "padding among the positions that passed through the policy in the step",
              reading =
                  "high: lengths differ much; a smaller policy.micro_batch_tokens packs them"
                      + " closer")
          double paddingShare,
      @MetricDefinition(
              unit = "s",
              meaning = "time the training step took, reference and publishing copy included",
              reading = "high: training is the bottleneck")
          double trainSeconds,
      @MetricDefinition(
              unit = "s",
              meaning =
                  "part of train_seconds: forward and backward passes, and the loss "
                      + "between them",
              reading = "high: the step is bound by the policy")
          double gradientSeconds,
      @MetricDefinition(
              unit = "s",
              meaning = "part of train_seconds: gradient norm, clip and AdamW",
              reading = "high beside gradient_seconds: the batch is small for the policy")
          double optimizerSeconds,
      @MetricDefinition(
              unit = "s",
              meaning = "part of train_seconds: passes of the reference policy; 0 without one",
              reading = "high: the penalty or the teacher costs as much as it takes")
          double referenceSeconds,
      @MetricDefinition(
              unit = "s",
              meaning = "time since the last step in which the trainer did not compute",
              reading = "high: rollouts or verification are the bottleneck")
          double waitSeconds,
      @MetricDefinition(
              unit = "groups",
              meaning = "groups scored since the last step",
              reading = "high: rollouts are fast")
          long groups,
      @MetricDefinition(
              unit = "groups",
              meaning = "groups filtered out since the last step, degenerate ones above all",
              reading = "high: see degenerate_share")
          long filtered,
      @MetricDefinition(
              unit = "groups",
              meaning = "groups put back to be sampled again since the last step",
              reading = "high: they come back too stale, or workers die")
          long requeued,
      @MetricDefinition(
              unit = "groups",
              meaning = "results refused since the last step because their lease was fenced",
              reading = "above 0: a worker that was given up came back late")
          long refused,
      @MetricDefinition(
              unit = "ms",
              meaning =
                  "median time of a verification on a worker of the pool, waiting left out, since"
                      + " this process began; of several verifiers the slowest",
              reading = "times the completions of a step: what verification costs")
          double verifierMillisP50,
      @MetricDefinition(
              unit = "ms",
              meaning = "the time that one such verification in a hundred exceeds",
              reading = "near the deadline: completions that hang, or tests that are too slow")
          double verifierMillisP99,
      @MetricDefinition(
              unit = "verifications",
              meaning = "ended at their deadline since the last step",
              reading = "above 0: the groups are lost; raise the deadline or look at the prompts")
          long verifierTimeouts,
      @MetricDefinition(
              unit = "verifications",
              meaning = "failed since the last step, or their process died",
              reading = "above 0: the groups are lost; in a row they end in quarantine")
          long verifierCrashes,
      @MetricDefinition(
              unit = "verifications",
              meaning = "in the pools' queues when the step ended",
              reading = "growing: verification is the bottleneck; give it more workers")
          long verifierWaiting,
      @MetricDefinition(
              unit = "reward",
              meaning = "mean task reward of the completions that the step trained on",
              reading =
                  "of 0 and 1, about one half: groups distinguish right from wrong; compare with reward,"
                      + " which counts what was filtered, too")
          double rewardUsed,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "groups all of whose completions pass, among the groups scored since the last step",
              reading = "high: prompts too easy; take them out, or harder ones in")
          double allRightShare,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "groups none of whose completions passes, among the groups scored since the last step",
              reading =
                  "high: prompts too hard, answers cut off, or a verifier that does not read them;"
                      + " look at a few")
          double allWrongShare,
      @MetricDefinition(
              unit = "nats",
              meaning =
                  "largest estimate of KL(policy || reference) at a trained token; 0 without a"
                      + " penalty in the loss",
              reading =
                  "spikes: single tokens that the reference all but excludes; k3 grows without"
                      + " limit there")
          double referenceKlMax,
      @MetricDefinition(
              unit = "share",
              meaning = "completions of the step that ended with a stop token",
              reading = "falling: answers get cut off, or the policy forgets to end them")
          double stopShare,
      @MetricDefinition(
              unit = "share",
              meaning = "completions of the step that ended with a stop string",
              reading = "0 without rollout.stop or stops of the task")
          double stopStringShare,
      @MetricDefinition(
              unit = "share",
              meaning = "completions of the step that the token limit cut off",
              reading =
                  "above a few percent: raise rollout.max_tokens, or leave them out with"
                      + " loss.mask_truncated")
          double lengthShare,
      @MetricDefinition(
              unit = "-1 to 1",
              meaning = "correlation of task reward and length over the completions of the step",
              reading =
                  "high: longer answers are rewarded, rightly or not; below 0: long ones fail or"
                      + " are cut off")
          double rewardLengthCorrelation,
      @MetricDefinition(
              unit = "tokens",
              meaning = "mean length of the step's completions that pass",
              reading = "compare with length_wrong")
          double lengthRight,
      @MetricDefinition(
              unit = "tokens",
              meaning = "mean length of the step's completions that do not pass",
              reading = "near the token limit: wrong answers are those that did not come to an end")
          double lengthWrong,
      @MetricDefinition(
              unit = "s",
              meaning =
                  "CPU time of this process since the last step, all threads together; not a number"
                      + " in the first step of a process",
              reading =
                  "the machine's cores times the time of a step: no core is free; below it: cores"
                      + " are idle, or other programs have them")
          double cpuSeconds,
      @MetricDefinition(
              unit = "groups",
              meaning = "groups of the step that an earlier step trained on (training.group_uses)",
              reading =
                  "0 with group_uses 1; far below the step's groups with more: groups become stale"
                      + " before their next use")
          long reused) {}

  /** The measurements of a step whose episodes have turns with tools, or agents. */
  public record Episodes(
      @MetricDefinition(
              unit = "turns",
              meaning = "mean turns of the episodes scored since the last step",
              reading = "1: the policy calls no tool")
          double episodeTurns,
      @MetricDefinition(
              unit = "calls",
              meaning = "mean calls of tools of an episode",
              reading = "0: the policy calls no tool")
          double episodeToolCalls,
      @MetricDefinition(
              unit = "s",
              meaning =
                  "mean time of an episode, from its first request to its last answer or result",
              reading =
                  "high beside episode_sample_seconds: tools, or the agent between its turns, hold the workers")
          double episodeSeconds,
      @MetricDefinition(
              unit = "s",
              meaning = "part of episode_seconds in which the policy was asked for a turn",
              reading = "high: sampling is what episodes take")
          double episodeSampleSeconds,
      @MetricDefinition(
              unit = "s",
              meaning = "part of episode_seconds in which a tool ran",
              reading = "high: tools are what episodes take; troupe waits names one that hangs")
          double episodeToolSeconds,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes that the policy ended itself, or its agent program, among those scored since the last step",
              reading = "the rest met a limit, a tool or a fault")
          double episodeStopCompleted,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes that a tool declared done, among those scored since the last step",
              reading = "0 for tools that never do")
          double episodeStopTool,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes that had episode.max_turns turns, among those scored since the last step",
              reading = "high: raise it, or the policy goes in circles; look at a few")
          double episodeStopMaxTurns,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes with a turn that reached rollout.max_tokens, among those scored since the last step",
              reading = "high: raise it")
          double episodeStopMaxTokens,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes that called tools episode.max_tool_calls times, among those scored since the last step",
              reading = "high: raise it, or the policy goes in circles")
          double episodeStopMaxToolCalls,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes whose next request would not have fitted the context, among those scored since the last step",
              reading = "high: results of tools are long; lower output_bytes, or raise the context")
          double episodeStopContextOverflow,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes ended by a call that could not be read, among those scored since the last step",
              reading = "high: the format is not the policy's")
          double episodeStopParseError,
      @MetricDefinition(
              unit = "share",
              meaning =
                  "episodes whose tool or agent took too long, among those scored since the last step",
              reading =
                  "above 0: raise episode.tool_timeout or agent.timeout, or look at the tools")
          double episodeStopTimeout) {}

  /** The row before any step, to be evaluated. */
  public static StepRow before(double seconds) {
    return new StepRow(0, seconds, OptionalDouble.empty(), Optional.empty());
  }

  /** This row with the result of its evaluation, 0 to 1. */
  public StepRow evaluated(double accuracy) {
    return evaluated(StepScores.of(accuracy));
  }

  /** This row with the results of its evaluations. */
  StepRow evaluated(StepScores scores) {
    return new StepRow(
        step, seconds, scores.of(StepScores.HELD_OUT), scores.others(), training, episodes);
  }

  /** Names and values in the catalogue's order, as in JSON. */
  @JsonValue
  public Map<String, Object> toMap() {
    return MetricCatalogue.valuesOf(this);
  }
}
