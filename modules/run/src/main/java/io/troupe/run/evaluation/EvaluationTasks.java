package io.troupe.run.evaluation;

import io.troupe.base.hash.Sha256;
import io.troupe.config.RunConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.evaluation.EvaluationFile.EvaluatedTask;
import io.troupe.config.evaluation.EvaluationKeys;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.task.TaskSection;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.evaluation.EvaluationComparison;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.EpisodePlan;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.TaskLoader;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.tasks.AnswerEnds;
import io.troupe.tasks.BeginOfText;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tasks of an evaluation, loaded, and their verifiers. */
public final class EvaluationTasks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EvaluationTasks.class);

  private static final int STANDARD_TOKENS = 1024;

  private record Judges(VerifierSection section, Map<String, VerifierSpec> bySource) {}

  private final EvaluatedPolicy policy;
  private final EvaluationFile file;
  private final Optional<Tokenizer> tokenizer;
  private final int contextLength;
  private final List<EvaluationTask> tasks = new ArrayList<>();
  private final Map<String, Judges> judges = new LinkedHashMap<>();
  private final Map<String, EpisodeSettings> episodes = new HashMap<>();
  private final Map<String, VerifierPools> opened = new LinkedHashMap<>();

  /**
   * Loads all tasks of a file.
   *
   * @param tokenizer of the policy; absent where servers have it
   * @param contextLength most tokens of a prompt and a completion
   */
  public EvaluationTasks(
      EvaluatedPolicy policy, EvaluationFile file, Optional<Tokenizer> tokenizer, int contextLength)
      throws IOException {
    this.policy = policy;
    this.file = file;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
    for (EvaluatedTask task : file.tasks()) {
      tasks.add(task.keys().datasets().isEmpty() ? ofRun(task) : ofDataSets(task));
    }
  }

  public List<EvaluationTask> tasks() {
    return List.copyOf(tasks);
  }

  /**
   * Returns the form of a task's episodes, where the task names one; else the policy's run does.
   */
  Optional<EpisodeSettings> episodes(EvaluationTask task) {
    return Optional.ofNullable(episodes.get(task.name()));
  }

  /**
   * Refuses tasks with turns, where something samples that answers once.
   *
   * @param asked what samples, in the plural
   * @param option of the command line that says so
   * @throws TaskDataException names the first of them
   */
  public void refuseTurns(String asked, String option) {
    for (String task : episodes.keySet().stream().sorted().limit(1).toList()) {
      throw singleAnswers(task, asked, option);
    }
  }

  private EvaluationTask ofRun(EvaluatedTask task) throws IOException {
    if (task.episode().hasTurns()) {
      throw new TaskDataException(
          "task %s: episode: the held-out rows of a run are answered as the run does; list datasets, or leave episode out"
              .formatted(task.name()));
    }
    if (policy.run().isEmpty()) {
      throw new TaskDataException(
          "task %s names no datasets, which means the held-out rows of a run, and no run is evaluated; list datasets"
              .formatted(task.name()));
    }
    Composition run = policy.run().getFirst();
    RunConfig config = run.config();
    if (run.task().heldOut().isEmpty()) {
      throw new TaskDataException(
          "task %s: the run holds no rows out; list datasets".formatted(task.name()));
    }
    judges.put(task.name(), new Judges(config.verifier(), run.verifiers()));
    return task(
        task,
        run.task(),
        run.task().heldOut(),
        task.keys()
            .sampling()
            .settings(
                config.evaluationSampling().maxTokens(),
                Set.copyOf(config.rollout().stopTokenIds()),
                config.rollout().stop()));
  }

  private EvaluationTask ofDataSets(EvaluatedTask task) throws IOException {
    List<DataSetSection> sections = task.keys().datasets();
    TaskSection section =
        sections.size() == 1
            ? sections.getFirst()
            : new TaskSection.Mixture(
                TaskSection.Mixture.Mode.SEQUENTIAL, false, sections, sections.getFirst().choice());
    EpisodePlan plan = EpisodePlan.of(task.episode(), policy.template(), section.folderSources());
    TaskLoader loader =
        TaskLoader.of(section, file.data(), file.seed(), plan.template()).judgedBy(file.verifier());
    DataSetTask worded = loader.load();
    DataSetTask loaded =
        tokenizer.isPresent()
            ? new AnswerEnds(plan.template(), tokenizer.get())
                .end(new BeginOfText(tokenizer.get()).begin(worded), false)
            : worded;
    judges.put(task.name(), new Judges(file.verifier(), loader.verifiers(loaded)));
    if (task.episode().hasTurns()) {
      episodes.put(task.name(), plan.episodes(tokenizer(task), loaded));
    }
    Stream<Prompt> held = loaded.heldOut().stream();
    List<Prompt> prompts =
        switch (task.keys().part()) {
          case ALL -> Stream.concat(loaded.train().stream(), held).toList();
          case HELD_OUT -> held.toList();
        };
    if (prompts.isEmpty()) {
      throw new TaskDataException(
          "task %s has no prompts: its data sets hold no rows out; set part to all"
              .formatted(task.name()));
    }
    int standardTokens =
        policy.run().stream()
            .map(run -> run.config().evaluationSampling().maxTokens())
            .findFirst()
            .orElse(STANDARD_TOKENS);
    return task(
        task,
        loaded,
        prompts,
        task.keys().sampling().settings(standardTokens, Set.of(), List.of()));
  }

  private Tokenizer tokenizer(EvaluatedTask task) {
    return tokenizer.orElseThrow(() -> singleAnswers(task.name(), "servers", "--endpoint"));
  }

  private static TaskDataException singleAnswers(String task, String asked, String option) {
    return new TaskDataException(
        "task %s: episode: %s are asked for single answers; leave out %s, so that this process samples"
            .formatted(task, asked, option));
  }

  private EvaluationTask task(
      EvaluatedTask task, Task loaded, List<Prompt> prompts, SamplingSettings general) {
    EvaluationKeys keys = task.keys();
    Map<String, SamplingSettings> bySource = new LinkedHashMap<>();
    for (TaskSource source : loaded.sources()) {
      bySource.put(source.name(), source.limits().of(general));
    }
    int count = keys.prompts() == 0 ? prompts.size() : Math.min(keys.prompts(), prompts.size());
    List<EvaluationItem> items =
        IntStream.range(0, count)
            .mapToObj(i -> prompts.get(PromptOrder.at(0, 0, i, prompts.size())))
            .map(
                prompt ->
                    new EvaluationItem(
                        prompt,
                        loaded.facets(prompt.id()),
                        bySource
                            .getOrDefault(prompt.source(), general)
                            .within(loaded.ownLimits().getOrDefault(prompt.id(), 0), List.of())))
            .toList();
    List<EvaluationItem> fitting = items.stream().filter(item -> fits(task.name(), item)).toList();
    return new EvaluationTask(
        task.name(), fitting, keys.samples(), protocol(task.name(), fitting, bySource));
  }

  private boolean fits(String task, EvaluationItem item) {
    int tokens = tokenizer.map(known -> tokens(known, task, item.prompt())).orElse(0);
    if (tokens >= contextLength && file.data().overlong() == DataSection.Overlong.REFUSE) {
      throw new TaskDataException(
          "task %s: prompt %s has %d tokens and the policy's context %d; raise --context-length, or set data.overlong to drop"
              .formatted(task, item.prompt().id(), tokens, contextLength));
    }
    return tokens < contextLength;
  }

  private static int tokens(Tokenizer tokenizer, String task, Prompt prompt) {
    try {
      return tokenizer.encodeWithSpecial(prompt.text()).length;
    } catch (IllegalArgumentException foreign) {
      throw new TaskDataException(
          "task %s: prompt %s cannot be read by this policy: %s"
              .formatted(task, prompt.id(), foreign.getMessage()));
    }
  }

  private Map<String, Object> protocol(
      String task, List<EvaluationItem> items, Map<String, SamplingSettings> bySource) {
    Map<String, Object> protocol = new LinkedHashMap<>();
    protocol.put(EvaluationComparison.MARK, judgesOf(task).section().passReward());
    Map<String, Object> sources = new LinkedHashMap<>();
    bySource.forEach((source, sampling) -> sources.put(source, source(task, source, sampling)));
    protocol.put("sources", sources);
    Map<String, String> digests = new LinkedHashMap<>();
    digests.put(
        "data", digest(items, item -> List.of(item.prompt().source(), item.prompt().answer())));
    digests.put("templates", digest(items, item -> List.of(item.prompt().text())));
    boolean ownLimits =
        items.stream()
            .anyMatch(
                item ->
                    !bySource
                        .getOrDefault(item.prompt().source(), item.sampling())
                        .equals(item.sampling()));
    if (ownLimits) {
      digests.put(
          "limits", digest(items, item -> List.of(Integer.toString(item.sampling().maxTokens()))));
    }
    protocol.put("digests", digests);
    Optional.ofNullable(episodes.get(task))
        .map(EvaluatedPolicy::described)
        .ifPresent(protocol::putAll);
    return protocol;
  }

  private Map<String, Object> source(String task, String source, SamplingSettings sampling) {
    Map<String, Object> map = new LinkedHashMap<>();
    VerifierSpec verifier = judgesOf(task).bySource().get(source);
    if (verifier != null) {
      map.put("verifier", verifier.name());
      map.put("verifier_options", new TreeMap<>(verifier.options()));
    }
    map.put("temperature", sampling.temperature());
    map.put("top_p", sampling.topP());
    map.put("top_k", sampling.topK());
    map.put("min_p", sampling.minP());
    map.put("repetition_penalty", sampling.repetitionPenalty());
    map.put("max_tokens", sampling.maxTokens());
    map.put("stop_token_ids", sampling.stopIds().stream().sorted().toList());
    map.put("stop", sampling.stops());
    return map;
  }

  private Judges judgesOf(String task) {
    Judges found = judges.get(task);
    if (found == null) {
      throw new IllegalArgumentException("no task is named " + task);
    }
    return found;
  }

  /** Over the ids and what is taken of each prompt, with lengths between. */
  private static String digest(
      List<EvaluationItem> items, Function<EvaluationItem, List<String>> parts) {
    MessageDigest sha = Sha256.digest();
    for (EvaluationItem item : items) {
      Stream.concat(Stream.of(item.prompt().id().value()), parts.apply(item).stream())
          .map(text -> text.getBytes(StandardCharsets.UTF_8))
          .forEach(
              bytes -> {
                sha.update((bytes.length + ":").getBytes(StandardCharsets.UTF_8));
                sha.update(bytes);
              });
    }
    return Sha256.hex(sha);
  }

  /**
   * The verifiers of a task, which stay open until this is closed.
   *
   * @throws IOException if something they need is missing on this machine; says what to do
   */
  public VerifierService verifiers(EvaluationTask task) throws IOException {
    VerifierPools known = opened.get(task.name());
    if (known != null) {
      return known.evaluation();
    }
    Judges of = judgesOf(task.name());
    try {
      VerifierPools pools = VerifierPools.open(of.section(), of.bySource(), true);
      opened.put(task.name(), pools);
      pools
          .tryOut(task.items().stream().map(EvaluationItem::prompt).toList())
          .forEach(sentence -> LOG.warn("verifier={}", sentence));
      return pools.evaluation();
    } catch (InvalidVerifierException wrong) {
      throw new TaskDataException(
          "task %s: %s".formatted(task.name(), String.valueOf(wrong.getMessage())));
    }
  }

  /** Looks for every verifier, without opening any. */
  public void checkVerifiers() throws InvalidVerifierException {
    for (Judges each : judges.values()) {
      VerifierPools.check(each.section(), each.bySource());
    }
  }

  @Override
  public void close() {
    opened.values().forEach(VerifierPools::close);
  }
}
