package io.troupe.run.evaluation;

import io.troupe.base.hash.Sha256;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.config.RunConfig;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.environments.ToolSchema;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.gateway.agent.AgentSettings;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.PolicyOpening;
import io.troupe.run.compose.RunInferenceServers;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.serve.model.ServedWeights;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.tasks.PromptTemplate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A policy that is evaluated: a version of a run, or a checkpoint.
 *
 * @param run run that the policy belongs to; none or one
 * @param resolved file of the run's configuration; none or one
 * @param weights of the version; none or one, since a run's rows can be asked of servers
 * @param pretrained the checkpoint, of a policy without a run; none or one
 * @param compute compute settings of a checkpoint without a run
 * @param stored the version of a run as its checkpoint holds it; none or one
 * @param description the protocol's description of the policy
 * @param thinking the choice of a policy without a run; a run's is in its configuration
 */
public record EvaluatedPolicy(
    List<Composition> run,
    List<Path> resolved,
    List<WeightSnapshot> weights,
    List<PretrainedModel> pretrained,
    ComputeSettings compute,
    List<EvaluatedWeights> stored,
    Map<String, Object> description,
    Thinking thinking) {
  /** Completions of the longest context that the cache of a checkpoint without a run holds. */
  private static final int LONG_COMPLETIONS = 32;

  private static final int LEAST_BATCH_TOKENS = 16384;
  private static final List<String> TEMPLATES =
      List.of("chat_template.jinja", "chat_template.json", "tokenizer_config.json");

  public EvaluatedPolicy {
    run = List.copyOf(run);
    resolved = List.copyOf(resolved);
    weights = List.copyOf(weights);
    pretrained = List.copyOf(pretrained);
    stored = List.copyOf(stored);
  }

  /** Returns the policy's tokenizer; empty if the policy is a server's. */
  public Optional<Tokenizer> tokenizer() {
    return Stream.<Tokenizer>concat(
            run.stream().map(Composition::tokenizer),
            pretrained.stream().map(PretrainedModel::tokenizer))
        .findFirst();
  }

  /** Returns a policy of servers, with the prompts of data sets. */
  public static EvaluatedPolicy ofServers() {
    return ofCaller(List.of(), List.of(), Thinking.AUTO);
  }

  /** Returns the policy of a run that trains in this process. */
  static EvaluatedPolicy inTraining(Composition run) {
    return ofCaller(List.of(run), List.of(), Thinking.AUTO);
  }

  /** Returns weights without a run, which the engines of the caller sample. */
  public static EvaluatedPolicy ofWeights(List<PretrainedModel> checkpoint, Thinking thinking) {
    return ofCaller(List.of(), checkpoint, thinking);
  }

  /** Returns a policy whose weights are with the engines of the caller. */
  private static EvaluatedPolicy ofCaller(
      List<Composition> run, List<PretrainedModel> checkpoint, Thinking thinking) {
    return new EvaluatedPolicy(
        run,
        List.of(),
        List.of(),
        checkpoint,
        ComputeSettings.of(1, 1, LEAST_BATCH_TOKENS),
        List.of(),
        Map.of(),
        thinking);
  }

  /**
   * A version of a run.
   *
   * @param step step of the checkpoint; empty means the newest
   * @param sampled whether this process samples, and needs the weights
   * @param thinking {@link Thinking#AUTO} means the run's
   * @throws IOException if there is no such checkpoint; names those there are
   */
  public static EvaluatedPolicy ofRun(
      RunFolder folder, OptionalLong step, boolean sampled, Thinking thinking) throws IOException {
    Checkpoint chosen = chosen(folder, step);
    List<String> overrides =
        thinking == Thinking.AUTO
            ? List.of()
            : List.of("policy.thinking=" + (thinking == Thinking.TRUE));
    RunConfig config = RunConfig.load(folder.resolved(), overrides).config();
    if (!sampled) {
      refuseTurns(folder.name(), config);
    }
    Composition composition = Composition.of(config, folder.checkpoints());
    Path directory = chosen.directory().resolve(TrainerTasks.POLICY_FOLDER);
    WeightSnapshot snapshot = ServedWeights.read(directory, new WeightVersion(chosen.step()));
    Map<String, Object> description = new LinkedHashMap<>();
    description.put("run", folder.name());
    description.put("version", chosen.step());
    description.put("weights", snapshot.digest());
    description.put("chat_template", templates(directory));
    description.putAll(described(thinking));
    description.putAll(described(composition.evaluationSampling().episodes()));
    return new EvaluatedPolicy(
        List.of(composition),
        List.of(folder.resolved()),
        sampled ? List.of(snapshot) : List.of(),
        List.of(),
        ComputeSettings.of(1, 1, LEAST_BATCH_TOKENS),
        List.of(
            new EvaluatedWeights(
                folder.name(),
                new PublishedWeights(
                    snapshot.version(),
                    snapshot.digest(),
                    directory.toAbsolutePath().normalize().toString()))),
        description,
        Thinking.AUTO);
  }

  /**
   * The folder of a run's checkpoint.
   *
   * @param step step of the checkpoint; empty means the newest
   * @throws IOException if there is no such checkpoint; names those there are
   */
  public static Path checkpoint(RunFolder folder, OptionalLong step) throws IOException {
    return chosen(folder, step).directory();
  }

  private static Checkpoint chosen(RunFolder folder, OptionalLong step) throws IOException {
    List<Checkpoint> whole = Checkpoints.view(folder.checkpoints()).list().whole();
    return whole.stream()
        .filter(each -> step.isEmpty() || each.step() == step.getAsLong())
        .findFirst()
        .orElseThrow(() -> new IOException(missing(folder, step, whole)));
  }

  /**
   * Servers and workers of a cluster answer once, and a policy that acts in turns is not measured
   * by single answers.
   */
  static void refuseTurns(String run, RunConfig config) throws UnsupportedPolicyException {
    if (config.episode().hasAgent() || config.episode().hasTools()) {
      throw new UnsupportedPolicyException(
          "the policy of %s acts in turns (episode.%s), and servers and workers are asked for single answers; leave out --endpoint and --cluster, so that this process samples"
              .formatted(run, config.episode().hasAgent() ? "agent" : "environment"));
    }
  }

  /**
   * Returns the sampler with the loaded weights: a completion a sample, or an episode of the run's,
   * or of a task's own.
   *
   * @param engine closed with the source
   * @param tasks of which some have episodes of their own
   */
  public AnswerSource answers(SamplingEngine engine, PolicyEngines engines, EvaluationTasks tasks)
      throws UnsupportedPolicyException {
    TaskAnswers all = new TaskAnswers(engine, engines.tokenizer(), engines.contextLength());
    all.add(episodes());
    for (EvaluationTask task : tasks.tasks()) {
      Optional<EpisodeSettings> own = tasks.episodes(task);
      if (own.isPresent()) {
        all.add(task, own.get());
      }
    }
    return all;
  }

  private EpisodeSettings episodes() {
    return run.isEmpty()
        ? new EpisodeSettings.SingleTurn()
        : run.getFirst().evaluationSampling().episodes();
  }

  /**
   * Returns the protocol's description of episodes, so that shards and continuations have the same.
   */
  static Map<String, Object> described(EpisodeSettings episodes) {
    return switch (episodes) {
      case EpisodeSettings.SingleTurn _ -> Map.of();
      case EpisodeSettings.ToolLoop loop ->
          Map.of("tools", loop.provider().tools().stream().map(ToolSchema::name).toList());
      case EpisodeSettings.Agents(AgentSettings agent) -> Map.of("agent", agent.source().name());
    };
  }

  /** A choice that was not made is the policy's own, which is described elsewhere. */
  private static Map<String, Object> described(Thinking thinking) {
    return thinking == Thinking.AUTO ? Map.of() : Map.of("thinking", thinking == Thinking.TRUE);
  }

  private static String missing(RunFolder folder, OptionalLong step, List<Checkpoint> whole) {
    if (whole.isEmpty()) {
      return "%s has no checkpoint yet; wait for one, or lower checkpoint.every".formatted(folder);
    }
    return "%s has no checkpoint of v%d; it has v%s"
        .formatted(
            folder,
            step.orElse(0),
            String.join(
                ", v", whole.reversed().stream().map(each -> Long.toString(each.step())).toList()));
  }

  /**
   * A Hugging Face checkpoint.
   *
   * @param contextLength most tokens of prompt and completion, if the checkpoint allows as many
   * @param threads of PyTorch
   */
  public static EvaluatedPolicy ofCheckpoint(
      Path directory, int contextLength, int threads, Thinking thinking) throws IOException {
    return ofCheckpoint(
        String.valueOf(directory.toAbsolutePath().getFileName()),
        directory,
        contextLength,
        threads,
        thinking);
  }

  /** Opens a checkpoint under the name that the protocol has for it. */
  public static EvaluatedPolicy ofCheckpoint(
      String name, Path directory, int contextLength, int threads, Thinking thinking)
      throws IOException {
    try {
      PretrainedModel opened = PretrainedModel.open(directory);
      PretrainedModel limited =
          opened.withContextLength(Math.min(contextLength, opened.settings().contextLength()));
      int context = limited.settings().contextLength();
      WeightSnapshot snapshot = ServedWeights.read(directory, WeightVersion.BASE);
      Map<String, Object> description = new LinkedHashMap<>();
      description.put("checkpoint", name);
      description.put("weights", snapshot.digest());
      description.put("chat_template", templates(directory));
      description.put("context_length", context);
      description.putAll(described(thinking));
      return new EvaluatedPolicy(
          List.of(),
          List.of(),
          List.of(snapshot),
          List.of(limited),
          ComputeSettings.of(1, threads, Math.max(LEAST_BATCH_TOKENS, context))
              .withCache((long) LONG_COMPLETIONS * context, ComputeSettings.KvOnSwap.KEEP),
          List.of(),
          description,
          thinking);
    } catch (IOException | IllegalArgumentException unfit) {
      throw new UnsupportedPolicyException(
          "%s cannot be evaluated: %s".formatted(directory, unfit.getMessage()), unfit);
    }
  }

  /** The digest of what makes prompts of conversations; empty if the policy has none. */
  private static String templates(Path directory) throws IOException {
    MessageDigest sha = Sha256.digest();
    List<Path> files = new ArrayList<>();
    for (String name : TEMPLATES) {
      Path file = directory.resolve(name);
      if (Files.isRegularFile(file)) {
        files.add(file);
        Sha256.add(sha, file);
      }
    }
    for (Path file : ModelDescription.templates(directory)) {
      files.add(file);
      Sha256.add(sha, file);
    }
    return files.isEmpty() ? "" : Sha256.hex(sha);
  }

  /** The chat template of the policy, or one that refuses conversations. */
  ChatTemplate template() throws IOException {
    Optional<ChatTemplate> own = Optional.empty();
    if (!run.isEmpty()) {
      own = run.getFirst().chatTemplate();
    } else if (!pretrained.isEmpty()) {
      own =
          PolicyOpening.template(
              pretrained.getFirst().directory(),
              pretrained.getFirst().tokenizer(),
              Clock.system(ZoneId.systemDefault()),
              thinking);
    }
    return own.isPresent() ? own.get() : PromptTemplate.noTemplate();
  }

  /** Whether servers that the run starts sample its rollouts. */
  public boolean hasSidecars() {
    return !resolved.isEmpty() && run.getFirst().config().rollout().sidecars().count() > 0;
  }

  /** Returns this policy where the run's sidecars sample, which the protocol says. */
  public EvaluatedPolicy bySidecars() {
    Map<String, Object> more = new LinkedHashMap<>(description);
    more.put(
        "sidecars",
        run.getFirst().config().rollout().sidecars().server().name().toLowerCase(Locale.ROOT));
    return new EvaluatedPolicy(run, resolved, weights, pretrained, compute, stored, more, thinking);
  }

  /**
   * Starts servers as the run does.
   *
   * @param folder for their weights, logs and pids
   */
  public RunInferenceServers sidecars(PolicyEngines engines, Path folder, Consumer<String> say)
      throws IOException, InterruptedException {
    return RunInferenceServers.ofEvaluation(
        run.getFirst().config(), engines, resolved.getFirst(), folder, say);
  }

  /** Loads the policy's engine. */
  public PolicyEngines engines() throws UnsupportedPolicyException {
    return run.isEmpty()
        ? DjlPolicy.create(pretrained.getFirst(), compute)
        : run.getFirst().workerEngines();
  }
}
