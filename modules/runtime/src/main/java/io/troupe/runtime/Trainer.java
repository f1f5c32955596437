package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.weights.SampledWeights;
import io.troupe.runtime.weights.WeightDigests;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowQueue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Holds the tokens of scored groups until the coordinator uses or drops them, and makes the steps
 * that the coordinator asks for.
 *
 * <p>The trainer, not the worker, reports a scored group to the coordinator, so the trainer has
 * every group that the coordinator knows of. All engine calls run in order on the trainer's thread,
 * so a checkpoint holds exactly the weights of the steps asked for before it.
 */
public final class Trainer extends AbstractOnMessageBehavior<Trainer.Command> {
  public sealed interface Command {}

  /** Make the policy ready: warm it up, or restore it from the checkpoint of the workshop. */
  public record Prepare() implements Command {}

  /**
   * Keep a scored group.
   *
   * @param weights that its tokens were sampled with
   */
  public record Deliver(ScoredGroup group, List<SampledWeights> weights)
      implements Command, WireMessage {
    public Deliver {
      weights = List.copyOf(weights);
    }
  }

  /** Drop a group's tokens. */
  public record Forget(LeaseId lease) implements Command {}

  /** Make a step from these weights on these groups. */
  public record Train(long step, WeightVersion from, List<LeaseId> groups) implements Command {
    public Train {
      groups = List.copyOf(groups);
    }
  }

  /** Save everything that a resume needs, with the rows that metrics.jsonl lacks. */
  public record Save(long step, StateSnapshot snapshot, RowQueue rows, boolean last)
      implements Command {}

  private record Ready(TrainerTasks.Prepared prepared) implements Command {}

  private record StepDone(long step, TrainerTasks.Step result) implements Command {}

  private record Saved(long step, boolean last) implements Command {}

  private record Failed(String doing, Throwable cause) implements Command {}

  private final TrainerTasks workshop;
  private final ActorRef<Coordinator.Command> coordinator;
  private final Map<LeaseId, ScoredGroup> groups = new HashMap<>();
  private WeightDigests digests = WeightDigests.NONE;

  /** A trainer that waits for {@link Prepare}. */
  public static Behavior<Command> create(
      TrainerTasks workshop, ActorRef<Coordinator.Command> coordinator) {
    return Behaviors.setup(context -> new Trainer(context, workshop, coordinator));
  }

  private Trainer(
      ActorContext<Command> context,
      TrainerTasks workshop,
      ActorRef<Coordinator.Command> coordinator) {
    super(context);
    this.workshop = workshop;
    this.coordinator = coordinator;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Prepare _ -> work("preparing the policy", workshop::prepare, Ready::new);
      case Deliver(ScoredGroup group, List<SampledWeights> weights) -> onDeliver(group, weights);
      case Forget(LeaseId lease) -> groups.remove(lease);
      case Train(long step, WeightVersion from, List<LeaseId> leases) ->
          onTrain(step, from, leases);
      case Save save -> onSave(save);
      case Ready(TrainerTasks.Prepared prepared) -> onReady(prepared);
      case StepDone(long step, TrainerTasks.Step result) -> onStepDone(step, result);
      case Saved(long step, boolean last) ->
          coordinator.tell(new Coordinator.Tell(new Input.CheckpointSaved(step, last)));
      case Failed(String doing, Throwable cause) ->
          coordinator.tell(
              new Coordinator.Tell(
                  new Input.Broken(doing + " failed: " + FailureCause.message(cause))));
    }
    return this;
  }

  private void onDeliver(ScoredGroup group, List<SampledWeights> weights) {
    Optional<String> objection = digests.mismatch(group.completions(), weights);
    if (objection.isPresent()) {
      coordinator.tell(
          new Coordinator.Tell(
              new Input.GroupFailed(group.lease(), new LeaseFailure.OfEngine(objection.get()))));
      return;
    }
    groups.putIfAbsent(group.lease(), group);
    coordinator.tell(new Coordinator.Tell(new Input.GroupScored(group.summary(), group.digests())));
  }

  private void onReady(TrainerTasks.Prepared prepared) {
    digests = digests.with(prepared.snapshot().version(), prepared.snapshot().digest());
    prepared.groups().forEach(group -> groups.put(group.lease(), group));
    coordinator.tell(new Coordinator.TrainerReady(prepared.snapshot()));
  }

  private void onStepDone(long step, TrainerTasks.Step result) {
    if (result instanceof TrainerTasks.WeightsUpdated(var _, var _, var _, WeightSnapshot made)) {
      digests = digests.with(made.version(), made.digest());
    }
    coordinator.tell(new Coordinator.StepDone(step, result));
  }

  private void onTrain(long step, WeightVersion from, List<LeaseId> leases) {
    List<ScoredGroup> batch = leases.stream().map(this::held).toList();
    work(
        "step " + step,
        () -> workshop.train(step, from, batch),
        result -> new StepDone(step, result));
  }

  private void onSave(Save save) {
    long step = save.step();
    boolean last = save.last();
    List<ScoredGroup> buffered =
        save.snapshot().state().buffered().map(summary -> held(summary.lease())).toList();
    work(
        "saving the checkpoint of step " + step,
        () -> {
          workshop.save(step, save.snapshot(), buffered, save.rows());
          return step;
        },
        saved -> new Saved(saved, last));
  }

  private ScoredGroup held(LeaseId lease) {
    return Objects.requireNonNull(groups.get(lease), () -> "the tokens of " + lease + " are gone");
  }

  private <T> void work(String doing, Supplier<T> job, Function<T, Command> done) {
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(job, workshop.thread()),
            (result, failure) -> failure == null ? done.apply(result) : new Failed(doing, failure));
  }
}
