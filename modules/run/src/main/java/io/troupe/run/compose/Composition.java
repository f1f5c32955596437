package io.troupe.run.compose;

import io.troupe.chat.ChatTemplate;
import io.troupe.cluster.ClusterSettings;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.ModelSizes;
import io.troupe.config.plan.Plan;
import io.troupe.config.policy.DecoderSection;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.training.ImitatedDataSet;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.TorchReport;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.parallel.RankNotices;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.ranks.RankRegistry;
import io.troupe.run.model.ModelCache;
import io.troupe.run.task.DataSummary;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.SupervisedData;
import io.troupe.run.task.SupervisedRows;
import io.troupe.run.task.TaskLoader;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.prompt.TeacherPrompts;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.file.MachineMemory;
import io.troupe.store.folder.RunFolder;
import io.troupe.tasks.AnswerEnds;
import io.troupe.tasks.BeginOfText;
import io.troupe.tasks.ContextFilter;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.SourceLimits;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts a configuration names: the one place that knows every implementation.
 *
 * @param task prompts and their answers
 * @param verifiers verifier of each source's answers
 * @param tokenizer over the task's characters, or the checkpoint's
 * @param start source of the policy
 * @param teacher of a distillation, where it is not the reference policy; none or one
 * @param facts facts of the task that a plan needs
 * @param episodes one answer each, or turns with tools
 */
public record Composition(
    RunConfig config,
    Task task,
    Map<String, VerifierSpec> verifiers,
    Tokenizer tokenizer,
    Start start,
    List<TeacherCheckpoint> teacher,
    TaskFacts facts,
    EpisodeSettings episodes) {
  private static final Logger LOG = LoggerFactory.getLogger(Composition.class);
  private static final int BYTES_PER_TOKEN = 20;

  /** Above that, a second copy of the weights takes gigabytes of a GPU. */
  private static final long MOST_PARAMETERS_FOR_LINE = 2_000_000_000;

  private static final Path NVIDIA_DRIVER = Path.of("/proc/driver/nvidia/version");

  /** The limit of an exchange between trainer ranks; the largest gradient takes far less. */
  public static final Duration RANK_DEADLINE = Duration.ofSeconds(60);

  /** For a prompt's answer, such as its unit tests. */
  private static final int PROMPT_EXTRAS = 64 << 10;

  /** The source of the policy. */
  sealed interface Start {
    /** The model is made here, over the task's characters. */
    record Fresh() implements Start {}

    /** The model is read, with its own tokenizer. */
    record Stored(PretrainedModel checkpoint) implements Start {}
  }

  /**
   * Loads the task and chooses the verifiers.
   *
   * @throws IOException if the data cannot be read
   * @throws io.troupe.tasks.rows.TaskDataException if it is not what the task needs; names file,
   *     line and rule
   */
  public static Composition of(RunConfig config) throws IOException {
    return of(config, start(config));
  }

  /**
   * Puts a run together that is only described: a checkpoint's weights are not fetched, and the
   * composition can neither sample nor train.
   */
  public static Composition described(RunConfig config) throws IOException {
    return of(
        config,
        config.policy() instanceof PolicySection.Pretrained section
            ? new Start.Stored(PolicyOpening.described(config.data(), section))
            : new Start.Fresh());
  }

  /**
   * Puts a run together that has begun. Where the checkpoint it started from is gone, the run's own
   * newest one replaces it: of the same architecture and tokenizer, and its weights are read from
   * there anyway.
   *
   * @param checkpoints of the run
   */
  public static Composition of(RunConfig config, Path checkpoints) throws IOException {
    return of(config, start(config, checkpoints));
  }

  private static Composition of(RunConfig config, Start start) throws IOException {
    PolicyOpening.choosePyTorch(config.policy());
    Optional<EnvironmentProvider> environment =
        ToolLoops.environment(config.episode(), config.task().folderSources());
    ChatTemplate template = template(config, start, environment);
    TaskLoader loader =
        TaskLoader.of(config.task(), config.data(), config.run().seed(), template)
            .judgedBy(config.verifier());
    DataSetTask worded = loader.load();
    Optional<SupervisedRows> rows = imitatedRows(config);
    Tokenizer tokenizer =
        switch (start) {
          case Start.Fresh() ->
              new CharacterTokenizer(
                  alphabet(worded.alphabet(), rows.map(SupervisedRows::alphabet).orElse("")));
          case Start.Stored(PretrainedModel checkpoint) -> checkpoint.tokenizer();
        };
    DataSetTask loaded =
        new AnswerEnds(template, tokenizer)
            .end(new BeginOfText(tokenizer).begin(worded), conversing(config))
            .imitating(examples(config, rows, template, tokenizer));
    Task task = fitting(config, loaded, tokenizer);
    Optional<String> objection =
        TeacherPrompts.whyUnusable(teacherPrompt(config), task.train(), tokenizer);
    if (objection.isPresent()) {
      throw new TaskDataException("distillation.teacher_prompt: " + objection.get());
    }
    return new Composition(
        config,
        task,
        loader.verifiers(loaded),
        tokenizer,
        start,
        teacher(config, start, tokenizer),
        facts(task, tokenizer),
        ToolLoops.of(config.episode(), template, tokenizer, loaded, environment));
  }

  /** Whether an agent program makes conversations of raw prompts, by the chat template. */
  private static boolean conversing(RunConfig config) {
    return config.episode().hasAgent() && config.episode().format() != EpisodeSection.Format.INLINE;
  }

  /** Returns the task without prompts that are too long for the policy, where they are dropped. */
  private static Task fitting(RunConfig config, DataSetTask loaded, Tokenizer tokenizer) {
    return switch (config.data().overlong()) {
      case REFUSE -> loaded;
      case DROP ->
          new ContextFilter(
                  prompt -> tokens(tokenizer, prompt),
                  config.policy().contextLength(),
                  config.longestCompletion())
              .filter(loaded);
    };
  }

  private static int tokens(Tokenizer tokenizer, Prompt prompt) {
    try {
      return tokenizer.encodeWithSpecial(prompt.text()).length;
    } catch (IllegalArgumentException foreign) {
      throw new TaskDataException(
          "prompt %s cannot be read by this policy: %s"
              .formatted(prompt.id(), foreign.getMessage()));
    }
  }

  private static TaskFacts facts(Task task, Tokenizer tokenizer) {
    Map<Integer, Integer> longest = new TreeMap<>();
    Stream.concat(task.train().stream(), task.heldOut().stream())
        .forEach(
            prompt ->
                longest.merge(
                    task.limits(prompt.source()).maxTokens(),
                    tokens(tokenizer, prompt),
                    Math::max));
    return new TaskFacts(
        task.train().size(),
        (int) task.train().stream().filter(prompt -> prompt.solution().isEmpty()).count(),
        task.heldOut().size(),
        longest.entrySet().stream()
            .map(each -> new TaskFacts.Longest(each.getValue(), each.getKey()))
            .toList(),
        tokenizer.vocabularySize());
  }

  private static Optional<SupervisedRows> imitatedRows(RunConfig config) throws IOException {
    List<ImitatedDataSet> sets = config.supervised().datasets();
    return sets.isEmpty()
        ? Optional.empty()
        : Optional.of(SupervisedRows.read(sets, config.data(), config.run().seed()));
  }

  private static List<SupervisedExample> examples(
      RunConfig config, Optional<SupervisedRows> rows, ChatTemplate template, Tokenizer tokenizer) {
    if (rows.isEmpty()) {
      return List.of();
    }
    SupervisedData data =
        SupervisedData.of(
            rows.get(), template, tokenizer, config.data(), config.policy().contextLength());
    data.leftOut().forEach(sentence -> LOG.warn("supervised={}", sentence));
    return data.train();
  }

  private static String alphabet(String first, String second) {
    StringBuilder alphabet = new StringBuilder();
    (first + second).codePoints().sorted().distinct().forEach(alphabet::appendCodePoint);
    return alphabet.toString();
  }

  /** The prompts and the examples of the run, with their tokens. */
  public PromptPool pool() {
    Map<String, int[]> ends = new TreeMap<>();
    task.sources().forEach(source -> ends.put(source.name(), source.end().ids(tokenizer)));
    return new PromptPool(task.train(), tokenizer, config.run().seed())
        .imitating(task.imitated())
        .ending(ends);
  }

  private static String teacherPrompt(RunConfig config) {
    return config.lossSettings().distils() ? config.distillation().teacherPrompt() : "";
  }

  /**
   * Looks for the verifiers of all sources, without opening any, and opens the environment of
   * episodes for a moment.
   *
   * @throws InvalidVerifierException if there is no such verifier, or no such source
   * @throws TaskDataException if the environment cannot be opened here
   */
  public void checkVerifiers() throws InvalidVerifierException {
    VerifierPools.check(config.verifier(), verifiers);
    ToolLoops.check(episodes);
  }

  /**
   * Opens the verifiers of all sources, and tries those of the user's own: {@link VerifierPools}.
   *
   * @param coordinator whether this process is the run's coordinator, which evaluates
   * @throws IOException if something they need is missing on this machine; says what to do
   * @throws InvalidVerifierException if an option is wrong, or a trial fails
   */
  public VerifierPools openVerifiers(boolean coordinator)
      throws IOException, InvalidVerifierException {
    VerifierPools pools =
        VerifierPools.open(config.verifier(), verifiers, coordinator && config.evaluates());
    try {
      pools.tryOut(task.train()).forEach(sentence -> LOG.warn("verifier={}", sentence));
      return pools;
    } catch (InvalidVerifierException refused) {
      pools.close();
      throw refused;
    }
  }

  private static Start start(RunConfig config) throws UnsupportedPolicyException {
    return config.policy() instanceof PolicySection.Pretrained section
        ? new Start.Stored(
            PolicyOpening.opened(PolicyOpening.fetched(config.data(), section), section))
        : new Start.Fresh();
  }

  private static Start start(RunConfig config, Path checkpoints) throws IOException {
    if (!(config.policy() instanceof PolicySection.Pretrained section)) {
      return start(config);
    }
    Optional<Path> own =
        Checkpoints.view(checkpoints)
            .list()
            .newest()
            .map(newest -> newest.directory().resolve(TrainerTasks.POLICY_FOLDER));
    try {
      Path first = PolicyOpening.fetched(config.data(), section);
      if (Files.isDirectory(first)) {
        return new Start.Stored(PolicyOpening.opened(first, section));
      }
    } catch (UnsupportedPolicyException nowhere) {
      if (own.isEmpty()) {
        throw nowhere;
      }
    }
    return new Start.Stored(
        PolicyOpening.opened(
            own.orElseThrow(
                () ->
                    new UnsupportedPolicyException(
                        "policy.checkpoint: %s is gone, and the run has no checkpoint of its own yet;"
                                .formatted(section.checkpoint())
                            + " put it back")),
            section));
  }

  private static List<TeacherCheckpoint> teacher(RunConfig config, Start start, Tokenizer tokenizer)
      throws UnsupportedPolicyException {
    if (!config.distillation().hasTeacherCheckpoint()) {
      return List.of();
    }
    try {
      TeacherCheckpoint teacher =
          TeacherCheckpoint.open(
              ModelCache.of(config.data(), message -> LOG.info("model={}", message))
                  .folder(config.distillation().teacher()));
      switch (start) {
        case Start.Stored(PretrainedModel checkpoint) -> teacher.requireFit(checkpoint);
        case Start.Fresh() -> {
          if (config.policy() instanceof PolicySection.Djl djl) {
            teacher.requireFit(djl.decoder(), tokenizer);
          }
        }
      }
      return List.of(teacher);
    } catch (IOException | IllegalArgumentException unfit) {
      throw new UnsupportedPolicyException("distillation.teacher: " + unfit.getMessage(), unfit);
    }
  }

  private static ChatTemplate template(
      RunConfig config, Start start, Optional<EnvironmentProvider> environment) throws IOException {
    return switch (start) {
      case Start.Fresh() -> PromptTemplate.noTemplate();
      case Start.Stored(PretrainedModel checkpoint) ->
          ToolLoops.showingTools(
              config.episode(),
              chatTemplate(config, checkpoint).orElseGet(PromptTemplate::noTemplate),
              environment);
    };
  }

  /**
   * The checkpoint's chat template, with the policy's choice of thinking; none if it has none, or
   * there is no checkpoint.
   */
  public Optional<ChatTemplate> chatTemplate() throws IOException {
    return switch (start) {
      case Start.Fresh() -> Optional.empty();
      case Start.Stored(PretrainedModel checkpoint) -> chatTemplate(config, checkpoint);
    };
  }

  private static Optional<ChatTemplate> chatTemplate(RunConfig config, PretrainedModel checkpoint)
      throws IOException {
    return PolicyOpening.template(
        checkpoint.directory(),
        checkpoint.tokenizer(),
        config.run().clock(),
        config.policy().thinking());
  }

  /**
   * Returns the form of agents' conversations outside of training; empty if the policy has no chat
   * template, and was not trained on any.
   */
  public Optional<Conversation> conversation() throws IOException {
    return config.episode().hasTurns() && config.episode().format() == EpisodeSection.Format.INLINE
        ? Optional.of(new PlainConversation(tokenizer))
        : chatTemplate().map(template -> TemplateFormats.conversation(tokenizer, template));
  }

  /**
   * The folder of the checkpoint that the policy starts from; nothing if it is made on the spot.
   */
  public Optional<Path> checkpointFolder() {
    return switch (start) {
      case Start.Fresh() -> Optional.empty();
      case Start.Stored(PretrainedModel checkpoint) -> Optional.of(checkpoint.directory());
    };
  }

  /**
   * Whether the policy starts from a checkpoint that a sampler beside the run's own can load for a
   * line: in the host's memory, twice its weights in float32 must be free.
   */
  public boolean hasRoomForGreedyLine() {
    return switch (start) {
      case Start.Fresh() -> false;
      case Start.Stored(PretrainedModel checkpoint) ->
          checkpoint.parameters() <= MOST_PARAMETERS_FOR_LINE
              && 2 * Float.BYTES * checkpoint.parameters()
                  <= MachineMemory.available().orElse(Long.MAX_VALUE);
    };
  }

  /** Returns the plan of the configuration. */
  Plan plan(ResolvedConfig<RunConfig> resolved) {
    Plan plan =
        switch (start) {
          case Start.Fresh() -> Plan.of(resolved, facts, List.of(), teacherParameters());
          case Start.Stored(PretrainedModel checkpoint) -> {
            DecoderSettings s = checkpoint.settings();
            ModelSizes model =
                new ModelSizes(
                    s.family().title(),
                    checkpoint.parameters(),
                    facts.vocabularySize(),
                    s.layers(),
                    new ModelSizes.Layer(
                        s.hidden(),
                        s.heads() * s.headDim(),
                        s.kvHeads() * s.headDim(),
                        s.feedForward()),
                    s.contextLength());
            yield Plan.of(resolved, facts, List.of(model), teacherParameters());
          }
        };
    return plan.withData(
            Stream.concat(
                    DataSummary.lines(config, task, verifiers()).stream(),
                    DataSummary.imitable(config, task))
                .toList())
        .withNotes(checkpointNotes());
  }

  /**
   * Returns the plan of the configuration, in one process of this machine.
   *
   * @throws io.troupe.config.binding.ConfigurationException if its memory does not suffice
   */
  public Plan fittingPlan(ResolvedConfig<RunConfig> resolved) {
    Plan plan = fittingGpus(resolved);
    boolean here =
        config.placement().nodes() == 0 && onCpu(config.policy().computesOn()) && !plan.knowsGpus();
    OptionalLong available = MachineMemory.available();
    return here && available.isPresent() ? plan.fitting(available.getAsLong()) : plan;
  }

  /**
   * Returns the plan of the configuration on GPUs such as the keys name, or this machine has.
   *
   * @throws io.troupe.config.binding.ConfigurationException if a process does not fit in one
   */
  public Plan fittingGpus(ResolvedConfig<RunConfig> resolved) {
    Plan plan = plan(resolved);
    Optional<Gpu> smallest = plan.knowsGpus() ? Optional.empty() : GpuOption.smallest();
    return smallest
        .map(gpu -> plan.withGpus(gpu.memoryBytes(), gpu.name() + " of this machine"))
        .orElse(plan)
        .fittingGpus();
  }

  /** Decides without looking for devices, which would load the libraries of all. */
  private static boolean onCpu(String device) {
    return device.equals("cpu") || (device.equals("auto") && !Files.exists(NVIDIA_DRIVER));
  }

  private List<String> checkpointNotes() {
    return switch (start) {
      case Start.Stored(PretrainedModel checkpoint) -> checkpoint.notes();
      case Start.Fresh() -> List.of();
    };
  }

  private long teacherParameters() {
    return teacher.stream().mapToLong(TeacherCheckpoint::parameters).sum();
  }

  private DjlPolicy withTeacher(DjlPolicy policy) {
    return teacher.isEmpty() ? policy : policy.withTeacher(teacher.getFirst());
  }

  private PretrainedModel stored() {
    return switch (start) {
      case Start.Stored(PretrainedModel checkpoint) -> checkpoint;
      case Start.Fresh() -> throw new IllegalStateException("the policy has no checkpoint");
    };
  }

  /**
   * Loads the policy's engine.
   *
   * @throws UnsupportedPolicyException if the device is not there
   */
  public PolicyEngines engines() throws UnsupportedPolicyException {
    return engines(config.policy().computesOn(), Optional.empty());
  }

  /**
   * Loads the policy's engine of a worker, which may have been handed its accelerators.
   *
   * @throws UnsupportedPolicyException if the device is not there
   */
  public PolicyEngines workerEngines() throws UnsupportedPolicyException {
    return engines(childDevice(), Optional.empty());
  }

  /**
   * Returns the engines of a trainer's rank: a rank has no accelerator if its coordinator was
   * handed none.
   *
   * @throws UnsupportedPolicyException if the device is not there
   */
  public PolicyEngines rankEngines() throws UnsupportedPolicyException {
    boolean none = config.policy().wantsGpu() && TrainerRankGroups.seesNoDevice();
    return engines(none ? "cpu" : childDevice(), Optional.empty());
  }

  private String childDevice() {
    return CoordinatorGpus.deviceWithin(
        TrainerRankGroups.visibleDevices(), config.policy().computesOn());
  }

  /**
   * Loads the policy's engine of a run's coordinator, whose trainer is made of ranks where the
   * placement says so.
   *
   * @param gpus of the coordinator and its ranks; none if that is not known
   * @param registry registry to which ranks of nodes report, if nodes start them
   * @param notices takes what the user should know about the ranks
   * @throws UnsupportedPolicyException if the device is not there
   */
  public PolicyEngines engines(
      RunFolder folder, List<String> gpus, Optional<RankRegistry> registry, RankNotices notices)
      throws UnsupportedPolicyException {
    String device = coordinatorDevice();
    PolicyEngines members = engines(device, Optional.empty());
    return engines(
        device, new TrainerRankGroups(config, folder, members, gpus, registry, notices).groups());
  }

  /**
   * A coordinator that trains nothing itself does without a GPU where it is given none, and so does
   * one that took over where its node's workers have left none: slowly, but the run continues.
   */
  private String coordinatorDevice() {
    PlacementSection placement = config.placement();
    boolean none =
        config.policy().wantsGpu()
            && (placement.ranksOnNodes()
                ? !placement.coordinatorGpu() || TorchReport.load().gpus().isEmpty()
                : placement.nodes() > 0 && TrainerRankGroups.seesNoDevice());
    if (none) {
      return "cpu";
    }
    // A coordinator that takes over sees the devices of its agent; alone, those of the operator.
    return placement.nodes() > 0 ? childDevice() : config.policy().computesOn();
  }

  private PolicyEngines engines(String device, Optional<Supplier<TrainerRanks>> ranks)
      throws UnsupportedPolicyException {
    return switch (config.policy()) {
      case DecoderSection policy -> {
        ComputeSettings compute =
            PolicyOpening.compute(
                policy, device, config.rollout().kvOnSwap(), config.rollout().batchInvariant());
        DjlPolicy untrained =
            switch (policy) {
              case PolicySection.Djl fresh -> DjlPolicy.create(fresh.decoder(), tokenizer, compute);
              case PolicySection.Pretrained _ -> DjlPolicy.create(stored(), compute);
            };
        yield trained(untrained, policy.compute().trainingMode(), ranks);
      }
      case PolicySection.Toy policy -> {
        ToyPolicy toy =
            new ToyPolicy(
                ToySettings.of(task.alphabet(), policy.contextLength())
                    .withTokenDelay(policy.tokenDelay()));
        yield ranks.isPresent() ? toy.by(ranks.get()) : toy;
      }
    };
  }

  private DjlPolicy trained(
      DjlPolicy policy, TrainingMode mode, Optional<Supplier<TrainerRanks>> ranks) {
    DjlPolicy taught =
        withTeacher(
            policy.trained(mode.with(new WeightDecay(config.training().optimizer().noDecay()))));
    return ranks.isPresent() ? taught.by(ranks.get()) : taught;
  }

  /**
   * Bytes that the largest message between coordinator and workers takes at most: a group's tokens
   * with two log-probabilities each and its texts, or the prompts of all groups a worker asks for.
   */
  public int frameBytes() {
    long group =
        (long) config.rollout().groupSize().most()
            * config.rollout().maxTokens()
            * (config.episode().hasTurns() ? config.episode().maxTurns() : 1)
            * BYTES_PER_TOKEN;
    long prompts =
        (long) config.rollout().groupsPerRequest()
            * ((long) facts.longestPromptTokens() * BYTES_PER_TOKEN + PROMPT_EXTRAS);
    return Math.toIntExact(
        Math.max(ClusterSettings.MIN_FRAME_BYTES, Math.max(group, prompts) + PROMPT_EXTRAS));
  }

  /** Returns the sampling of evaluations. */
  public SourceSampling evaluationSampling() {
    return bySource(config.evaluationSampling());
  }

  private SourceSampling bySource(SamplingSettings general) {
    Map<String, SamplingSettings> own = new LinkedHashMap<>();
    for (TaskSource source : task.sources()) {
      SourceLimits limits = source.limits();
      if (!limits.equals(SourceLimits.NONE)) {
        own.put(source.name(), limits.of(general));
      }
    }
    return new SourceSampling(general, own, task.ownLimits(), episodes);
  }

  /** Returns the settings of the loop. */
  public RunSettings settings() {
    return new RunSettings(
        config.run().seed(),
        switch (task.order()) {
          case SHUFFLED -> config.limits(facts);
          case LISTED -> config.limits(facts).inListedOrder();
        },
        config.lossSettings(),
        config.training().optimizer().settings(config.training().optimizer().learningRate()),
        config.training().optimizer().learningRates(),
        bySource(config.sampling()),
        new RunSettings.Warmup(
            config.warmup().steps(),
            config.warmup().untilLoss(),
            config.warmup().batch(),
            config.warmup().learningRate(),
            config.warmup().examples()),
        config.supervised().batch(),
        config.loss().referenceRefreshEvery(),
        config.distillation().teacherPrompt(),
        config.rollout().allWorkers(),
        config.rollout().groupsPerRequest(),
        config.evaluation().prompts(),
        config.evaluationSampling().maxTokens(),
        config.checkpoint().keep());
  }
}
