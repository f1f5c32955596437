package io.troupe.run.fork;

import static io.troupe.core.Require.invariant;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.RunState;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.run.replay.ReplayedTrainer;
import io.troupe.run.replay.RunReplay;
import io.troupe.runtime.Recorder;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.rollout.VerdictSummary;
import io.troupe.sim.engine.GroupContent;
import io.troupe.sim.engine.RunContent;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowQueue;
import io.troupe.verifiers.pool.VerifierService;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The content of a fork, which the run's own engines, verifiers and trainer compute, at the times
 * of the model.
 *
 * <p>A group is sampled when its first token is due, with the weights that its worker has then, and
 * again from its first token on whenever its worker gets new weights before it ends: decoding is
 * batch-invariant, so the tokens before the change come out the same.
 */
final class ForkContent implements RunContent {
  /** A worker may begin a group with the weights before the newest. */
  private static final int VERSIONS_KEPT = 3;

  private final GroupReplay sampler;
  private final TrainerTasks trainer;
  private final PromptPool pool;
  private final RunSettings settings;
  private final Tokenizer tokenizer;
  private final VerifierService verifiers;
  private final ForkRecord record;
  private final Map<LeaseId, ScoredGroup> groups;
  private final Map<LeaseId, WeightVersion> open = new HashMap<>();
  private final TreeMap<WeightVersion, WeightSnapshot> weights = new TreeMap<>();

  /**
   * The parts that compute.
   *
   * @param trainer under the settings of the fork
   */
  record Parts(
      TrainerTasks trainer, PromptPool pool, RunSettings settings, VerifierService verifiers) {}

  ForkContent(RunReplay replay, Parts parts, ForkRecord record) {
    this.sampler = replay.sampler();
    this.tokenizer = replay.engines().tokenizer();
    this.trainer = parts.trainer();
    this.pool = parts.pool();
    this.settings = parts.settings();
    this.verifiers = parts.verifiers();
    this.record = record;
    this.groups = new HashMap<>(replay.buffered());
    keep(replay.newest());
  }

  @Override
  public GroupContent group(Effect.Grant grant) {
    return new Sampled(
        pool.assignment(grant.lease(), grant.prompt(), grant.epoch(), grant.draws()));
  }

  private final class Sampled implements GroupContent {
    private final Assignment assignment;
    private final SamplingSettings sampling;
    private List<Completion> completions = List.of();

    private Sampled(Assignment assignment) {
      this.assignment = assignment;
      this.sampling = settings.sampling().of(assignment.prompt());
    }

    @Override
    public int completions() {
      return settings.limits().groups().size().part();
    }

    @Override
    public boolean followsWeights() {
      return true;
    }

    @Override
    public int[] lengths(TokenVersions versions) {
      open.put(assignment.lease(), versions.oldest());
      completions =
          sampler
              .sample(
                  new SampleRequest(
                      assignment.lease(),
                      assignment.tokens(),
                      completions(),
                      sampling,
                      assignment.seed()),
                  Collections.nCopies(completions(), new GroupReplay.Recorded(versions, List.of())),
                  version -> Objects.requireNonNull(weights.get(version), version::toString))
              .stream()
              .map(replayed -> replayed.whole().orElseThrow())
              .toList();
      return completions.stream().mapToInt(Completion::length).toArray();
    }

    private EpisodeText episode(String text) {
      return EpisodeText.answering(assignment.prompt(), text);
    }

    @Override
    public Input judged(LeaseId lease, List<TokenVersions> versions) {
      invariant(
          versions.equals(completions.stream().map(Completion::versions).toList()),
          "%s was sampled by other versions than the fork's workers had",
          lease);
      List<String> texts =
          completions.stream()
              .map(one -> Episode.of(assignment.tokens(), one))
              .map(episode -> EpisodeTrace.answer(episode, tokenizer, sampling.stops()))
              .toList();
      List<Verdict> verdicts =
          VerdictSummary.of(
                  texts.stream()
                      .map(text -> verifiers.verify(assignment.prompt(), episode(text)))
                      .toList())
              .toCompletableFuture()
              .join();
      record.judged(new Recorder.Judged(lease, assignment.prompt(), texts, verdicts, List.of()));
      if (verdicts.stream().anyMatch(VerdictSummary::away)) {
        throw new IllegalStateException(
            "no verifier judges %s: %s; a fork has no time to wait for one"
                .formatted(lease, VerdictSummary.firstObstacle(verdicts)));
      }
      List<Double> rewards = VerdictSummary.rewards(verdicts);
      if (rewards.size() < verdicts.size()) {
        return new Input.GroupFailed(
            lease, new LeaseFailure.OfPrompt(VerdictSummary.firstObstacle(verdicts)));
      }
      ScoredGroup scored =
          ScoredGroup.ofCompletions(lease, assignment.tokens(), completions, rewards);
      groups.put(lease, scored);
      return new Input.GroupScored(scored.summary(), scored.digests());
    }
  }

  @Override
  public void forget(LeaseId lease) {
    groups.remove(lease);
  }

  @Override
  public List<Input> step(Effect.Train step, LossTokens tokens) {
    List<ScoredGroup> batch =
        step.groups().stream().map(lease -> Objects.requireNonNull(groups.get(lease))).toList();
    return switch (ReplayedTrainer.on(
        trainer, () -> trainer.train(step.step(), step.from(), batch))) {
      case TrainerTasks.WeightsKept(String reason, boolean empty) ->
          List.of(new Input.StepSkipped(step.step(), reason, empty));
      case TrainerTasks.WeightsUpdated made -> {
        keep(made.snapshot());
        record.trained(step.step(), made);
        yield List.of(
            new Input.LossTokensCounted(step.step(), made.tokens()),
            new Input.WeightsMade(made.snapshot().version(), made.snapshot().digest()),
            new Input.StepTrained(step.step()));
      }
    };
  }

  /** Keeps the newest weights and those that groups in flight began with. */
  private void keep(WeightSnapshot made) {
    weights.put(made.version(), made);
    Optional<WeightVersion> oldest = open.values().stream().min(WeightVersion::compareTo);
    while (weights.size() > VERSIONS_KEPT
        && oldest.map(version -> weights.firstKey().compareTo(version) < 0).orElse(true)) {
      weights.pollFirstEntry();
    }
  }

  @Override
  public Runnable checkpoint(Effect.SaveCheckpoint checkpoint) {
    StateSnapshot snapshot = new StateSnapshot(record.position(), checkpoint.state());
    List<ScoredGroup> buffered =
        checkpoint
            .state()
            .buffered()
            .map(summary -> Objects.requireNonNull(groups.get(summary.lease())))
            .toList();
    return () ->
        ReplayedTrainer.on(
            trainer,
            () -> {
              trainer.save(checkpoint.step(), snapshot, buffered, RowQueue.EMPTY);
              return checkpoint.step();
            });
  }

  @Override
  public void decided(long millis, RunState state, List<Event> events) {
    record.decided(millis, state, events);
    for (Event event : events) {
      switch (event) {
        case Event.LeaseEnded(LeaseId lease, var _, var _, var _) -> open.remove(lease);
        case Event.GroupBuffered(var summary) -> open.remove(summary.lease());
        case Event.GroupFiltered(var summary) -> open.remove(summary.lease());
        default -> {} // No other ends the sampling of a group.
      }
    }
  }
}
