package io.troupe.run.fork;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.core.audit.Audit;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunState;
import io.troupe.run.compose.Composition;
import io.troupe.run.replay.ComputedWith;
import io.troupe.run.replay.ReplayPlan;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.RunReplay;
import io.troupe.run.simulation.RunFit;
import io.troupe.run.simulation.RunScenario;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.sim.engine.RunHistory;
import io.troupe.sim.engine.SimulatedRun;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Continues a run from one of its steps with keys changed, as a run folder of its own.
 *
 * <p>Up to the step it is the parent, made again and compared bit for bit. Behind it engines,
 * verifiers and trainer compute what they are asked for, and the coordinator decides in virtual
 * time: how long sampling, judging and training take comes from the model that is fitted to the
 * parent. Groups in flight at the step are sampled again by their seeds, as after a resume. So the
 * same fork has the same bits, on any load of the machine.
 */
public final class RunFork {
  private static final double SECONDS = Duration.ofDays(365).toSeconds();

  private RunFork() {}

  /**
   * The request for a fork.
   *
   * @param step of the parent, 1 or later
   * @param to the last step, unless the run ends before; none for the parent's last
   * @param set keys that change, as {@code KEY=VALUE}
   * @param output a folder that does not exist
   */
  public record Request(long step, OptionalLong to, List<String> set, Path output) {
    public Request {
      set = List.copyOf(set);
    }
  }

  /**
   * A fork that was made.
   *
   * @param steps behind the parent's
   * @param seconds of virtual time that they took
   */
  public record Made(RunFolder folder, long steps, double seconds, SimulationResult result) {}

  /**
   * Makes a fork.
   *
   * @param papers the description, in run.json, of the process that makes the fork
   * @param say takes lines about the progress
   * @throws ReplayRefusedException if the parent or the keys do not allow it
   * @throws UnmodelledRunException if the parent is too short for a fit, or a stage has no model
   */
  public static Made of(
      RunFolder parent, Request request, Map<String, Object> papers, Consumer<String> say)
      throws IOException, ReplayRefusedException, UnmodelledRunException, InvalidVerifierException {
    ForkRules.check(request.set());
    RecordedRun recorded = ReplayPlan.recorded(parent);
    ForkRecord.Cut cut = cut(parent, recorded, request);
    ResolvedConfig<RunConfig> changed = changed(recorded, request);
    String yaml =
        changed.yaml().replace(changed.file().toString(), parent.name() + "/resolved.yaml");
    Composition composition = Composition.of(changed.config(), parent.checkpoints());
    changed.check((config, rules) -> config.check(composition.facts(), rules));
    Scenario scenario = scenario(composition, RunFit.of(parent).model(), say);
    say.accept("making %s again up to step %d".formatted(parent.name(), request.step()));
    try (RunReplay replay = RunReplay.upTo(parent, recorded, request.step(), say);
        VerifierPools verifiers = composition.openVerifiers(false)) {
      RunFolder folder = create(parent, request, yaml, papers);
      PromptPool pool = composition.pool();
      TrainerTasks trainer =
          replay
              .trainer()
              .under(composition.settings(), pool, Checkpoints.open(folder.checkpoints()));
      Past past = new Past();
      try (ForkRecord record = ForkRecord.open(parent, folder, cut, pool, past::take, say)) {
        requireTokens(past.state, replay);
        say.accept("continuing as " + folder);
        ForkContent content =
            new ForkContent(
                replay,
                new ForkContent.Parts(trainer, pool, composition.settings(), verifiers.rewards()),
                record);
        SimulationResult result =
            new SimulatedRun(scenario, composition.config().run().seed(), content)
                .resume(past.history(replay, composition, yaml), last(recorded, request));
        return new Made(
            folder, result.state().version().number() - request.step(), result.seconds(), result);
      }
    }
  }

  private static ForkRecord.Cut cut(RunFolder parent, RecordedRun recorded, Request request)
      throws IOException, ReplayRefusedException {
    long step = request.step();
    boolean has =
        recorded.items().stream()
            .anyMatch(item -> item instanceof RecordedItem.Trained done && done.step() == step);
    if (!has) {
      throw new ReplayRefusedException(
          "%s has no step %d to fork behind; --from is a step that moved its weights, up to %d"
              .formatted(parent.name(), step, recorded.state().version().number()));
    }
    if (last(recorded, request) <= step) {
      throw new ReplayRefusedException(
          "a fork behind step %d has no step to make up to step %d; name a later one with --to"
              .formatted(step, last(recorded, request)));
    }
    return ForkRecord.Cut.behind(parent, step).orElseThrow();
  }

  private static long last(RecordedRun recorded, Request request) {
    return request.to().orElse(recorded.state().version().number());
  }

  /** The configuration of the process that made the step, with the keys changed. */
  private static ResolvedConfig<RunConfig> changed(RecordedRun recorded, Request request)
      throws IOException, ReplayRefusedException {
    Optional<String> config = Optional.empty();
    for (RecordedItem item : recorded.items()) {
      if (item instanceof RecordedItem.Began began && began.version().number() < request.step()) {
        config = Optional.of(began.process().config());
      }
    }
    if (config.isEmpty()) {
      throw new ReplayRefusedException(
          "the journal does not say what its processes computed with: it was written by a version of"
              + " Troupe without replay, or its oldest records were dropped (recording.journal)");
    }
    Path file = Files.createTempFile("troupe-fork", ".yaml");
    try {
      Files.writeString(file, config.get());
      ResolvedConfig<RunConfig> changed = RunConfig.load(file, request.set());
      ForkRules.check(RunConfig.load(file, List.of()).config(), changed.config());
      return changed;
    } finally {
      Files.delete(file);
    }
  }

  /** The fork's parts at the parent's speeds, without failures and without their uncertainty. */
  private static Scenario scenario(Composition composition, LatencyModel fit, Consumer<String> say)
      throws UnmodelledRunException {
    LatencyModel certain =
        new LatencyModel(
            fit.origin(),
            fit.workload(),
            fit.engine(),
            fit.verification(),
            fit.training(),
            fit.publication(),
            FailureRates.NONE,
            new ControlModel(
                fit.control().messageSeconds(),
                0,
                fit.control().cores(),
                fit.control().backgroundThreads()));
    RunScenario scenario = RunScenario.of(composition, certain, List.of(), SECONDS);
    scenario.notes().forEach(say);
    return scenario.scenario();
  }

  private static RunFolder create(
      RunFolder parent, Request request, String resolved, Map<String, Object> papers)
      throws IOException {
    Path output = request.output().toAbsolutePath().normalize();
    return RunFolder.create(
        Objects.requireNonNullElse(output.getParent(), output),
        String.valueOf(output.getFileName()),
        new RunFolder.Contents(
            Files.readAllBytes(parent.config()),
            resolved,
            new ForkOrigin(parent.name(), request.step(), request.set()).in(papers),
            ""));
  }

  private static void requireTokens(RunState state, RunReplay replay)
      throws ReplayRefusedException {
    for (GroupSummary summary : state.buffered().toList()) {
      if (!replay.buffered().containsKey(summary.lease())) {
        throw new ReplayRefusedException(
            "the replay does not have the tokens of %s, which waits to be trained on behind the step;"
                    .formatted(summary.lease())
                + " fork behind an earlier or a later step");
      }
    }
  }

  /** The parent's events up to the step. */
  private static final class Past {
    private final Audit audit = new Audit();
    private RunState state = RunState.INITIAL;
    private long records;
    private long lastFence;

    void take(List<Event> events) {
      audit.record(++records, events);
      for (Event event : events) {
        state = state.evolve(event);
        lastFence = Math.max(lastFence, state.lastFence());
      }
    }

    RunHistory history(RunReplay replay, Composition composition, String resolved) {
      List<Input> first = new ArrayList<>();
      first.add(
          new Input.ProcessStarted(ComputedWith.process(replay.engines(), composition, resolved)));
      first.add(new Input.WeightsMade(replay.newest().version(), replay.newest().digest()));
      return new RunHistory(audit, records, state, lastFence, first);
    }
  }
}
