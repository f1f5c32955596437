package io.troupe.run.replay;

import io.troupe.config.RunConfig;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.CompletionDigest;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.run.compose.Composition;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
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
  private final ReplayedTrainer trainer;
  private final GroupReplay sampler;
  private ReplayReport.Equal equal = new ReplayReport.Equal(0, 0, 0, 0);
  private int versionsHeld;

  private RunReplay(
      RunFolder folder, ReplayPlan plan, Composition composition, Consumer<String> say)
      throws IOException {
    this.folder = folder;
    this.plan = plan;
    this.say = say;
    this.steps = plan.steps();
    this.lastUses = plan.lastUses();
    this.trainer = new ReplayedTrainer(folder, plan, composition, say);
    this.sampler = trainer.engines().newGroupReplay();
  }

  /**
   * Replays a run, or its training alone where that is asked for, or where it cannot be sampled
   * again and its tokens are stored.
   *
   * @param say takes lines about the progress
   * @throws ReplayRefusedException if the replay could not have the bits of the run
   */
  public static ReplayReport of(RunFolder folder, ReplaySettings settings, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    RecordedRun recorded = ReplayPlan.recorded(folder);
    if (settings.training() || ReplayRules.onlyTrains(folder, recorded)) {
      return TrainingReplay.of(folder, recorded, settings, say);
    }
    ReplayPlan plan = ReplayPlan.of(folder, recorded, settings);
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    long start = System.nanoTime();
    try (RunReplay replay = new RunReplay(folder, plan, composition, say)) {
      replay.trainer.compareMachines(settings.anyway());
      Optional<ReplayDifference> difference = replay.run();
      return new ReplayReport(
          folder.name(),
          plan.version().number(),
          false,
          replay.trainer.remarks(),
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
    if (ReplayRules.onlyTrains(folder, recorded)) {
      return TrainingReplay.tokens(folder, recorded, step, row, versions, say);
    }
    ReplayPlan plan =
        ReplayPlan.of(folder, recorded, new ReplaySettings(step - 1, step, false, false));
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    try (RunReplay replay = new RunReplay(folder, plan, composition, say)) {
      replay.trainer.explain(step);
      replay.trainer.compareMachines(false);
      ReplayDifference.refuse(folder, replay.run());
      return replay.trainer.explained(row, versions);
    }
  }

  /**
   * Makes a run again up to a step, and leaves everything as it was there.
   *
   * @param recorded of its journal
   * @return the replay behind the step; the caller closes it
   * @throws ReplayRefusedException if the replay could not have the bits of the run, or has not
   */
  public static RunReplay upTo(
      RunFolder folder, RecordedRun recorded, long step, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    ReplayPlan plan = ReplayPlan.of(folder, recorded, new ReplaySettings(step, step, false, false));
    Composition composition = composition(folder, plan.begin().process().config());
    ReplayRules.check(folder, plan, composition.config());
    RunReplay replay = new RunReplay(folder, plan, composition, say);
    try {
      replay.trainer.compareMachines(false);
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
  public TrainerTasks trainer() {
    return trainer.tasks();
  }

  public GroupReplay sampler() {
    return sampler;
  }

  public PolicyEngines engines() {
    return trainer.engines();
  }

  /** The weights behind the last step. */
  public WeightSnapshot newest() {
    return trainer.newest();
  }

  /** The scored groups that have not ended, with their tokens. */
  public Map<LeaseId, ScoredGroup> buffered() {
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

  private Optional<ReplayDifference> run() throws IOException {
    TrainerTasks.Prepared prepared = trainer.prepare();
    prepared.groups().forEach(group -> groups.put(group.lease(), group));
    Optional<ReplayDifference> difference = made(prepared.snapshot(), plan.digest(), -1);
    long reported = System.nanoTime();
    for (int i = 0; i < plan.items().size() && difference.isEmpty(); i++) {
      int at = i;
      difference =
          switch (plan.items().get(i)) {
            case RecordedItem.Began began -> {
              trainer.began(began);
              yield Optional.empty();
            }
            case RecordedItem.Scored(RecordedGroup group) -> sampled(group);
            case RecordedItem.Trained recorded -> trained(recorded, at);
            case RecordedItem.Skipped(long step, List<LeaseId> batch, String reason) ->
                skipped(step, batch, reason);
          };
      weights.keySet().removeIf(held -> lastUses.getOrDefault(held, -1) <= at);
      if (System.nanoTime() - reported > REPORT_NANOS) {
        reported = System.nanoTime();
        say.accept(
            "%s, %,d groups, %,d tokens equal so far"
                .formatted(trainer.version(), equal.groups(), equal.tokens()));
      }
    }
    return difference;
  }

  private Optional<ReplayDifference> sampled(RecordedGroup recorded) {
    GroupSummary summary = recorded.summary();
    Assignment assignment =
        trainer
            .pool()
            .assignment(summary.lease(), recorded.prompt(), recorded.epoch(), recorded.draws());
    List<GroupReplay.Recorded> versions = recorded(recorded);
    List<GroupReplay.Replayed> replayed = new ArrayList<>();
    for (int part : trainer.settings().limits().groups().size().parts(versions.size())) {
      int from = replayed.size();
      replayed.addAll(
          sampler.sample(
              new SampleRequest(
                  summary.lease(),
                  assignment.tokens(),
                  part,
                  trainer.settings().sampling().of(assignment.prompt()),
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
        RecordedTexts.of(folder, trainer.engines().tokenizer())
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

  private Optional<ReplayDifference> trained(RecordedItem.Trained recorded, int item) {
    long step = recorded.step();
    return switch (step(step, recorded.batch(), Set.copyOf(recorded.kept()))) {
      case TrainerTasks.WeightsUpdated updated -> {
        Optional<ReplayDifference> difference = made(updated.snapshot(), recorded.digest(), item);
        if (difference.isEmpty()) {
          equal =
              new ReplayReport.Equal(
                  equal.steps() + 1, equal.groups(), equal.completions(), equal.tokens());
        }
        yield difference;
      }
      case TrainerTasks.WeightsKept(String reason, boolean _) ->
          Optional.of(ReplayedTrainer.notMoved(step, reason));
    };
  }

  private Optional<ReplayDifference> skipped(long step, List<LeaseId> batch, String reason) {
    return switch (step(step, batch, Set.of())) {
      case TrainerTasks.WeightsKept _ -> Optional.empty();
      case TrainerTasks.WeightsUpdated _ ->
          Optional.of(
              ReplayDifference.ofWeights(
                  step, "it was skipped (%s), and the replay moves the weights".formatted(reason)));
    };
  }

  private TrainerTasks.Step step(long step, List<LeaseId> batch, Set<GroupId> kept) {
    List<ScoredGroup> own =
        batch.stream()
            .map(
                lease ->
                    Optional.ofNullable(groups.get(lease))
                        .orElseThrow(
                            () ->
                                new IllegalStateException(
                                    "step %d trains on %s, whose tokens the replay does not have"
                                        .formatted(step, lease))))
            .toList();
    batch.stream().filter(lease -> !kept.contains(lease.group())).forEach(groups::remove);
    return trainer.step(step, own);
  }

  /** Keeps weights that later groups sample with, and compares their digest. */
  private Optional<ReplayDifference> made(WeightSnapshot snapshot, String digest, int item) {
    if (lastUses.getOrDefault(snapshot.version(), -1) > item) {
      weights.put(snapshot.version(), snapshot);
    }
    versionsHeld = Math.max(versionsHeld, weights.size());
    return ReplayedTrainer.difference(snapshot, digest, "what it trained on is equal");
  }

  @Override
  public void close() {
    sampler.close();
    trainer.close();
  }
}
