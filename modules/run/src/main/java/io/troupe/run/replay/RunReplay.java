package io.troupe.run.replay;

import io.troupe.config.RunConfig;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.CompletionDigest;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.run.compose.Composition;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.RowQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Makes a run again from its journal and compares every bit.
 *
 * <p>The journal gives what depended on time: which worker sampled which group when, between which
 * tokens new weights came, what the verifiers said, and which groups made a batch. Everything else
 * is computed again: each group in a batch of its own with the weights of its tokens, each step by
 * the trainer's own code, so that the weights of later groups come from the replay itself. The
 * digests of completions and weights in the journal say where the two part. Nothing in the run
 * folder is changed.
 */
public final class RunReplay implements AutoCloseable {
  private static final long REPORT_NANOS = Duration.ofSeconds(2).toNanos();

  private final RunFolder folder;
  private final ReplayPlan plan;
  private final Consumer<String> say;
  private final Map<LeaseId, Long> steps;
  private final Map<WeightVersion, Integer> lastUses;
  private final Map<LeaseId, ScoredGroup> groups = new HashMap<>();
  private final Map<WeightVersion, WeightSnapshot> weights = new HashMap<>();
  private final List<String> remarks = new ArrayList<>();
  private final EngineRegistry room;
  private final GroupReplay sampler;
  private final Composition composition;
  private String config;
  private PromptPool pool;
  private RunSettings settings;
  private TrainerTasks trainer;
  private WeightVersion version;
  private ReplayReport.Equal equal = new ReplayReport.Equal(0, 0, 0, 0);
  private int versionsHeld;
  private Optional<WeightSnapshot> newest = Optional.empty();
  private long explainedStep;
  private Optional<TrainerTasks.StepTokens> explained = Optional.empty();

  private RunReplay(
      RunFolder folder, ReplayPlan plan, Composition composition, Consumer<String> say)
      throws IOException {
    this.folder = folder;
    this.plan = plan;
    this.say = say;
    this.steps = plan.steps();
    this.lastUses = plan.lastUses();
    this.config = plan.begin().process().config();
    this.version = plan.begin().version();
    this.composition = composition;
    this.pool = composition.pool();
    this.settings = composition.settings();
    PolicyEngines engines = composition.engines(folder, List.of(), Optional.empty(), say);
    this.sampler = engines.newGroupReplay();
    this.room = new EngineRegistry(engines);
    this.trainer =
        new TrainerTasks(
            room,
            settings,
            pool,
            Checkpoints.view(folder.checkpoints()),
            plan.checkpoint().map(path -> resume(path, version)),
            warmup -> say.accept("warm-up step %d".formatted(warmup.step())));
  }

  private static TrainerTasks.Resume resume(Path checkpoint, WeightVersion version) {
    return new TrainerTasks.Resume(checkpoint, RunState.INITIAL.version(version), RowQueue.EMPTY);
  }

  /**
   * Replays a run.
   *
   * @param say takes lines about the progress
   * @throws ReplayRefusedException if the replay could not have the bits of the run
   */
  public static ReplayReport of(RunFolder folder, ReplaySettings settings, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    RecordedRun recorded = ReplayPlan.recorded(folder);
    ReplayPlan plan = ReplayPlan.of(folder, recorded, settings);
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    long start = System.nanoTime();
    try (RunReplay replay = new RunReplay(folder, plan, composition, say)) {
      replay.compareMachines(settings.anyway());
      Optional<ReplayDifference> difference = replay.run();
      return new ReplayReport(
          folder.name(),
          plan.begin().version().number(),
          replay.remarks,
          replay.equal,
          replay.versionsHeld,
          Duration.ofNanos(System.nanoTime() - start),
          difference);
    }
  }

  /**
   * The tokens of a completion as its step saw them: replays the run up to the step, and that step
   * too, so that equal digests of the weights before and behind it vouch for the numbers.
   *
   * @param row of the batch
   * @param versions of the completion's tokens
   * @throws ReplayRefusedException if the replay could not have the bits of the run, or has not
   */
  static List<ExplainedToken> tokens(
      RunFolder folder, long step, int row, TokenVersions versions, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    RecordedRun recorded = ReplayPlan.recorded(folder);
    ReplayPlan plan = ReplayPlan.of(folder, recorded, new ReplaySettings(step - 1, step, false));
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    try (RunReplay replay = new RunReplay(folder, plan, composition, say)) {
      replay.explainedStep = step;
      replay.compareMachines(false);
      Optional<ReplayDifference> difference = replay.run();
      if (difference.isPresent()) {
        throw new ReplayRefusedException(
            "the replay of %s parts from it, so that its numbers would not be the run's: %s"
                .formatted(folder.name(), difference.get().line()));
      }
      return ExplainedToken.of(
          replay.explained.orElseThrow(), row, versions, replay.room.engines().tokenizer());
    }
  }

  /**
   * Makes a run again up to a step, and leaves everything as it was there.
   *
   * @param recorded of its journal
   * @return the replay behind the step; the caller closes it
   * @throws ReplayRefusedException if the replay could not have the bits of the run, or has not
   */
  static RunReplay upTo(RunFolder folder, RecordedRun recorded, long step, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    ReplayPlan plan = ReplayPlan.of(folder, recorded, new ReplaySettings(step, step, false));
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    RunReplay replay = new RunReplay(folder, plan, composition, say);
    try {
      replay.compareMachines(false);
      Optional<ReplayDifference> difference = replay.run();
      if (difference.isPresent()) {
        throw new ReplayRefusedException(
            "the replay of %s parts from it before step %d: %s"
                .formatted(folder.name(), step, difference.get().line()));
      }
      return replay;
    } catch (IOException | ReplayRefusedException | RuntimeException failure) {
      replay.close();
      throw failure;
    }
  }

  /** The trainer behind the last step. */
  TrainerTasks trainer() {
    return trainer;
  }

  GroupReplay sampler() {
    return sampler;
  }

  PolicyEngines engines() {
    return room.engines();
  }

  /** The weights behind the last step. */
  WeightSnapshot newest() {
    return newest.orElseThrow();
  }

  /** The scored groups that no step has trained on, with their tokens. */
  Map<LeaseId, ScoredGroup> buffered() {
    return Map.copyOf(groups);
  }

  static Composition composition(RunFolder folder, String resolved) throws IOException {
    return Composition.of(config(resolved), folder.checkpoints());
  }

  /** A resolved configuration, as the journal has it. */
  static RunConfig config(String resolved) throws IOException {
    Path file = Files.createTempFile("troupe-replay", ".yaml");
    try {
      Files.writeString(file, resolved);
      return RunConfig.load(file, List.of()).config();
    } finally {
      Files.delete(file);
    }
  }

  private void compareMachines(boolean anyway) throws ReplayRefusedException {
    Map<String, String> here = ComputedWith.process(room.engines(), composition, "").facts();
    Set<String> obstacles = new LinkedHashSet<>();
    for (RecordedItem.Began began : plan.processes()) {
      obstacles.addAll(ComputedWith.obstacles(began.process().facts(), here));
      remarks.addAll(ComputedWith.remarks(began.process().facts(), here));
    }
    if (!obstacles.isEmpty() && !anyway) {
      throw new ReplayRefusedException(
          "%s was computed otherwise than this process computes, so that its bits would differ: %s;"
                  .formatted(folder.name(), String.join("; ", obstacles))
              + " replay it on such a machine, or see where it differs with --anyway");
    }
    remarks.addAll(obstacles);
  }

  private Optional<ReplayDifference> run() throws IOException {
    TrainerTasks.Prepared prepared = onTrainer(trainer::prepare);
    prepared.groups().forEach(group -> groups.put(group.lease(), group));
    Optional<ReplayDifference> difference = made(prepared.snapshot(), plan.begin().digest(), -1);
    long reported = System.nanoTime();
    for (int i = 0; i < plan.items().size() && difference.isEmpty(); i++) {
      int at = i;
      difference =
          switch (plan.items().get(i)) {
            case RecordedItem.Began began -> began(began);
            case RecordedItem.Scored(RecordedGroup group) -> sampled(group);
            case RecordedItem.Trained(long step, List<LeaseId> batch, String digest) ->
                trained(step, batch, digest, at);
            case RecordedItem.Skipped(long step, List<LeaseId> batch, String reason) ->
                skipped(step, batch, reason);
          };
      weights.keySet().removeIf(held -> lastUses.getOrDefault(held, -1) <= at);
      if (System.nanoTime() - reported > REPORT_NANOS) {
        reported = System.nanoTime();
        say.accept(
            "%s, %,d groups, %,d tokens equal so far"
                .formatted(version, equal.groups(), equal.tokens()));
      }
    }
    return difference;
  }

  /** Another process continued the run: by the same weights, perhaps with other settings. */
  private Optional<ReplayDifference> began(RecordedItem.Began began) throws IOException {
    if (!began.process().config().equals(config)) {
      config = began.process().config();
      Composition changed = composition(folder, config);
      settings = changed.settings();
      pool = changed.pool();
      trainer = trainer.under(settings, pool);
    }
    return Optional.empty();
  }

  private Optional<ReplayDifference> sampled(RecordedGroup recorded) {
    GroupSummary summary = recorded.summary();
    Assignment assignment =
        pool.assignment(summary.lease(), recorded.prompt(), recorded.epoch(), recorded.draws());
    List<GroupReplay.Recorded> versions = recorded(recorded);
    List<GroupReplay.Replayed> replayed = new ArrayList<>();
    for (int part : settings.limits().groups().size().parts(versions.size())) {
      int from = replayed.size();
      replayed.addAll(
          sampler.sample(
              new SampleRequest(
                  summary.lease(),
                  assignment.tokens(),
                  part,
                  settings.sampling().of(assignment.prompt()),
                  assignment.seedOf(from)),
              versions.subList(from, from + part),
              this::held));
    }
    List<Completion> completions = new ArrayList<>();
    long tokens = 0;
    for (int i = 0; i < replayed.size(); i++) {
      Optional<Completion> whole = replayed.get(i).whole();
      String digest = whole.map(CompletionDigest::of).orElse("");
      if (!digest.equals(recorded.digests().get(i))) {
        return Optional.of(difference(summary, i, replayed.get(i)));
      }
      completions.add(whole.orElseThrow());
      tokens += replayed.get(i).tokens().length;
    }
    if (!recorded.filtered()) {
      groups.put(
          summary.lease(),
          ScoredGroup.ofCompletions(
              summary.lease(), assignment.tokens(), completions, summary.rewards()));
    }
    equal =
        new ReplayReport.Equal(
            equal.steps(),
            equal.groups() + 1,
            equal.completions() + completions.size(),
            equal.tokens() + tokens);
    return Optional.empty();
  }

  private static List<GroupReplay.Recorded> recorded(RecordedGroup group) {
    return IntStream.range(0, group.digests().size())
        .mapToObj(
            i ->
                new GroupReplay.Recorded(
                    group.summary().versions().get(i),
                    CompletionDigest.preemptedAt(group.digests().get(i))))
        .toList();
  }

  private WeightSnapshot held(WeightVersion wanted) {
    WeightSnapshot found = weights.get(wanted);
    if (found == null) {
      throw new IllegalStateException(
          "%s is not in memory, and the replay holds %s".formatted(wanted, weights.keySet()));
    }
    return found;
  }

  private ReplayDifference difference(
      GroupSummary summary, int completion, GroupReplay.Replayed replayed) {
    int recorded = summary.versions().get(completion).tokens();
    Long step = steps.get(summary.lease());
    boolean ends = replayed.whole().isPresent();
    RecordedTexts.Compared text =
        RecordedTexts.of(folder, room.engines().tokenizer())
            .compare(summary.lease(), completion, replayed.tokens());
    OptionalInt token =
        ends && replayed.tokens().length < recorded && text.token().isEmpty()
            ? OptionalInt.of(replayed.tokens().length)
            : text.token();
    String length =
        ends
            ? replayed.tokens().length == recorded
                ? "it has other tokens or log-probabilities than the recorded one"
                : "it ends after %d tokens, the recorded one has %d"
                    .formatted(replayed.tokens().length, recorded)
            : "it does not end after %d tokens, as the recorded one does".formatted(recorded);
    return new ReplayDifference(
        step == null ? OptionalLong.empty() : OptionalLong.of(step),
        OptionalLong.of(summary.lease().group().number()),
        OptionalInt.of(completion),
        token,
        length + text.sentence());
  }

  private Optional<ReplayDifference> trained(
      long step, List<LeaseId> batch, String digest, int item) {
    return switch (step(step, batch)) {
      case TrainerTasks.WeightsUpdated updated -> {
        Optional<ReplayDifference> difference = made(updated.snapshot(), digest, item);
        version = updated.snapshot().version();
        if (difference.isEmpty()) {
          equal =
              new ReplayReport.Equal(
                  equal.steps() + 1, equal.groups(), equal.completions(), equal.tokens());
        }
        yield difference;
      }
      case TrainerTasks.WeightsKept(String reason, boolean _) ->
          Optional.of(
              ReplayDifference.ofWeights(
                  step, "it moved the weights, and the replay skips it: " + reason));
    };
  }

  private Optional<ReplayDifference> skipped(long step, List<LeaseId> batch, String reason) {
    return switch (step(step, batch)) {
      case TrainerTasks.WeightsKept _ -> Optional.empty();
      case TrainerTasks.WeightsUpdated _ ->
          Optional.of(
              ReplayDifference.ofWeights(
                  step, "it was skipped (%s), and the replay moves the weights".formatted(reason)));
    };
  }

  private TrainerTasks.Step step(long step, List<LeaseId> batch) {
    List<ScoredGroup> own =
        batch.stream()
            .map(
                lease ->
                    Optional.ofNullable(groups.remove(lease))
                        .orElseThrow(
                            () ->
                                new IllegalStateException(
                                    "step %d trains on %s, whose tokens the replay does not have"
                                        .formatted(step, lease))))
            .toList();
    if (step == explainedStep) {
      explained = onTrainer(() -> trainer.tokens(step, version, own));
    }
    return onTrainer(() -> trainer.train(step, version, own));
  }

  /** Keeps weights that later groups sample with, and compares their digest. */
  private Optional<ReplayDifference> made(WeightSnapshot snapshot, String digest, int item) {
    if (lastUses.getOrDefault(snapshot.version(), -1) > item) {
      weights.put(snapshot.version(), snapshot);
    }
    newest = Optional.of(snapshot);
    versionsHeld = Math.max(versionsHeld, weights.size());
    return snapshot.digest().equals(digest)
        ? Optional.empty()
        : Optional.of(
            ReplayDifference.ofWeights(
                snapshot.version().number(),
                "the weights behind it have digest %s, and %s was recorded; what it trained on is equal"
                    .formatted(snapshot.digest(), digest)));
  }

  private <T> T onTrainer(Supplier<T> work) {
    return on(trainer, work);
  }

  /** Does something on a trainer's thread. */
  static <T> T on(TrainerTasks trainer, Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, trainer.thread()).join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException own ? own : failure;
    }
  }

  @Override
  public void close() {
    sampler.close();
    room.close();
  }
}
