package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Blanks;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.rollout.GroupSize;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.http.broadcast.WeightRoute;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.PublishedWeightForm;
import java.time.Duration;
import java.util.List;

/** The sampling of completions. */
public record RolloutSection(
    @Doc(
            value =
                "Rollout workers with an engine of their own in this process; 0 where inference"
                    + " servers do all of the sampling, with --cluster too.",
            unit = "workers")
        @Default("1")
        @Range(min = 0, max = 1024)
        int workers,
    @Doc(value = "G, the size of a group: its rewards are compared.", unit = "completions")
        @Default("16")
        @Range(min = 2, max = 4096)
        int completionsPerPrompt,
    @Doc("Logits are divided by it, in sampler and trainer alike.")
        @Default("1.0")
        @Range(min = 0, minExclusive = true, max = 100)
        double temperature,
    @Doc(value = "Most tokens of a completion, the stop token included.", unit = "tokens")
        @Range(min = 1, max = 1_000_000)
        int maxTokens,
    @Doc(value = "Most groups sampled or verified at a time, over all workers.", unit = "groups")
        @Default("64")
        @Range(min = 1, max = 1_000_000)
        int maxConcurrentGroups,
    @Doc(value = "Most groups a worker decodes at a time.", unit = "groups")
        @Default("16")
        @Range(min = 1, max = 1_000_000)
        int groupsPerRequest,
    @Doc("A group not finished after this long is given to another worker.")
        @Default("60s")
        @Range(min = 0.001)
        Duration leaseTimeout,
    @Doc(
            "How long an inference server may take from a request to its first token; its queue is"
                + " in it, unless its /metrics show that it samples for others meanwhile. Then the"
                + " server is taken for hung.")
        @Default("120s")
        @Range(min = 0.001)
        Duration firstTokenTimeout,
    @Doc(
            value =
                "Failures of a prompt before it is given up this epoch. Two leases that expire or"
                    + " are lost with their worker count as one, ten that an engine fails too;"
                    + " none that no verifier was there for.",
            unit = "failures")
        @Default("3")
        @Range(min = 1, max = 1000)
        int maxAttempts,
    @Doc(
            "A run in which nothing has succeeded for this long, because workers or verifiers fail"
                + " or no worker is there, ends as failed, to be resumed.")
        @Default("30m")
        @Range(min = 0.001)
        Duration outageTimeout,
    @Doc(
            "Share of the distribution that tokens are sampled from, the most probable first; 1"
                + " keeps all.")
        @Default("1.0")
        @Range(min = 0, minExclusive = true, max = 1)
        double topP,
    @Doc(
            value = "How many of the most probable tokens may be sampled; 0 means all.",
            unit = "tokens")
        @Default("0")
        @Range(min = 0)
        int topK,
    @Doc("Least probability of a token, relative to the most probable one's; 0 keeps all.")
        @Default("0")
        @Range(min = 0, max = 1)
        double minP,
    @Doc(
            "Logits above 0 of tokens that prompt or completion hold are divided by it, those below"
                + " multiplied; 1 changes nothing.")
        @Default("1.0")
        @Range(min = 0, minExclusive = true, max = 100)
        double repetitionPenalty,
    @Doc(
            "Texts that end a completion, in rollouts and evaluations. The token that completes one"
                + " is trained on; verifiers see the text before it.")
        @Blanks
        List<String> stop,
    @Doc("Ids that end a completion, besides the tokenizer's own.") List<Integer> stopTokenIds,
    @Doc(
            "What becomes of cached keys and values when weights change within a completion:"
                + " `keep`, or `recompute` them with the new weights.")
        @Default("keep")
        KvOnSwap kvOnSwap,
    @Doc(
            "Whether a completion has the same bits, whatever decodes beside it, so that `troupe"
                + " replay` can sample it again; engines on the CPU only. docs/decoding.md has its"
                + " price.")
        @Default("true")
        boolean batchInvariant,
    @Doc(
            "What inference servers get of each version: `merged`, all weights, or `adapters`,"
                + " those of policy.lora alone, which they load beside the model that they serve;"
                + " that must be policy.checkpoint. docs/sidecars.md.")
        @Default("merged")
        PublishedWeightForm publish,
    @Doc(
            "How inference servers get merged weights: `files`, a folder that they read, or `nccl`,"
                + " broadcasts from this process's GPU to vLLM's workers. docs/sidecars.md.")
        @Default("files")
        WeightRoute weights,
    @Doc(
            value =
                "Size of a packed buffer of rollout.weights: nccl, of which a server needs two; 0"
                    + " sends each tensor by itself.",
            unit = "MiB")
        @Default("256")
        @Range(min = 0, max = 65536)
        int transferBuffer,
    @Doc(
            "Whether this process scores a few tokens that an inference server samples after each"
                + " change of merged weights, so that a server that does not use all of them gets"
                + " no work. Takes one more copy of the weights meanwhile; docs/sidecars.md.")
        @Default("true")
        boolean compareWeights,
    @Doc(
            "Groups that grow by completions_per_prompt at a time until enough completions are"
                + " right and enough are wrong; docs/algorithms.md.")
        AdaptiveSection adaptive,
    @Doc("Inference servers that others run; docs/sidecars.md.") EndpointsSection endpoints,
    @Doc("Inference servers that the run starts beside itself; docs/sidecars.md.")
        SidecarsSection sidecars)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("workers", "endpoints.urls", "sidecars.count")
        .require(
            () -> workers > 0 || usesServers(),
            "must be 1 or more where no inference server samples",
            "raise it, or name rollout.endpoints.urls or rollout.sidecars.count");
    publishing(rules);
    weightRoute(rules);
    rules
        .on("stop")
        .require(
            () -> stop.stream().noneMatch(String::isEmpty),
            "must not hold an empty text",
            "remove it");
    rules
        .on("stop_token_ids")
        .require(
            () -> stopTokenIds.stream().allMatch(id -> id >= 0),
            "must hold ids, which are 0 or greater",
            "remove the others");
    groups(rules);
  }

  private void publishing(RuleChecker rules) {
    rules
        .on("publish", "sidecars.model")
        .require(
            () -> !publishesAdapters() || sidecars.count() == 0 || sidecars.model().isEmpty(),
            "(adapters) needs servers that load adapters beside policy.checkpoint",
            "leave rollout.sidecars.model out, or set rollout.publish: merged");
    rules
        .on("publish", "sidecars.restart_for_weights")
        .require(
            () -> !publishesAdapters() || !sidecars.restartForWeights(),
            "(adapters) is loaded while a server runs, which is not started again for it",
            "leave rollout.sidecars.restart_for_weights out, or set rollout.publish: merged");
    rules
        .on("publish")
        .require(
            () -> !publishesAdapters() || usesServers(),
            "(adapters) is for inference servers, and there are none",
            "name rollout.endpoints.urls or rollout.sidecars.count, or leave it out");
  }

  private void weightRoute(RuleChecker rules) {
    rules
        .on("weights", "sidecars.server")
        .require(
            () ->
                weights == WeightRoute.FILES
                    || sidecars.count() == 0
                    || sidecars.server() == SidecarsSection.Server.VLLM
                    || sidecars.server() == SidecarsSection.Server.COMMAND,
            "(nccl) is vLLM's protocol, and other servers read files",
            "set rollout.sidecars.server: vllm, or rollout.weights: files");
    rules
        .on("weights", "publish")
        .require(
            () -> weights == WeightRoute.FILES || (!publishesAdapters() && usesServers()),
            "(nccl) is for inference servers that get merged weights",
            "set rollout.publish: merged and name servers, or set rollout.weights: files");
  }

  private void groups(RuleChecker rules) {
    rules
        .on("adaptive.max_completions", "completions_per_prompt")
        .require(
            () ->
                adaptive.maxCompletions() == 0 || adaptive.maxCompletions() > completionsPerPrompt,
            "must exceed completions_per_prompt (%d), with which a group begins"
                .formatted(completionsPerPrompt),
            "raise it, or lower completions_per_prompt");
    rules
        .on("groups_per_request", "max_concurrent_groups")
        .require(
            () -> groupsPerRequest <= maxConcurrentGroups,
            "must not exceed max_concurrent_groups (%d)".formatted(maxConcurrentGroups),
            "lower it, or raise max_concurrent_groups");
  }

  /** Returns the number of completions of a group. */
  public GroupSize groupSize() {
    return adaptive.of(completionsPerPrompt);
  }

  /** Whether servers get adapters alone. */
  public boolean publishesAdapters() {
    return publish == PublishedWeightForm.ADAPTERS;
  }

  /** Whether completions are sampled from the policy's own distribution, to the last token. */
  public boolean isPlain() {
    return topP == 1 && topK == 0 && minP == 0 && repetitionPenalty == 1 && stop.isEmpty();
  }

  /** Returns the patience with servers that sample. */
  public InferenceEndpoint.Patience patience() {
    return InferenceEndpoint.Patience.DEFAULT.withFirstToken(firstTokenTimeout);
  }

  /** Whether engines of this program sample groups: workers, or servers of ours. */
  public boolean samplesGroupsHere() {
    return workers > 0
        || (sidecars.count() > 0 && sidecars.server() == SidecarsSection.Server.TROUPE);
  }

  /** Whether inference servers sample. */
  public boolean usesServers() {
    return !endpoints.urls().isEmpty() || sidecars.count() > 0;
  }

  /**
   * Returns the number of workers: those with an engine in this process, and the one that drives
   * the servers.
   */
  public int allWorkers() {
    return workers + (usesServers() ? 1 : 0);
  }
}
