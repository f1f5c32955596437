package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.ProcessFacts;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.rollout.VerdictSummary;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.runtime.weights.WeightSource;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.journal.JournalWriter;
import io.troupe.verifiers.pool.VerifierService;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The parts that a run works with; the session that starts the run makes them.
 *
 * @param settings of the run
 * @param engines the policy's engines
 * @param pool training prompts
 * @param publisher store of new weights
 * @param source source of weights for workers of this JVM
 * @param workers of this JVM
 * @param onActorsStarted takes the actors that operators and workers of other JVMs send to
 * @param evaluations of the run
 * @param verifier of the task; the session closes it after the run
 * @param journal open for this run
 * @param checkpoints of the run folder
 * @param tokens of trained steps
 * @param traces open for this run
 * @param process facts of this process's computation
 * @param resume the checkpoint to continue from
 * @param again whether a process has worked on the run before
 * @param lastFence greatest fencing number in the journal
 * @param millis a clock that starts near zero and never goes back
 * @param listener gets the progress
 */
public record RunWiring(
    RunSettings settings,
    EngineRegistry engines,
    PromptPool pool,
    WeightPublisher publisher,
    WeightSource source,
    int workers,
    Consumer<Run.RunActors> onActorsStarted,
    StepEvaluations evaluations,
    VerifierService verifier,
    JournalWriter journal,
    Checkpoints checkpoints,
    StepTokenFiles tokens,
    TraceFiles traces,
    ProcessFacts process,
    Optional<TrainerTasks.Resume> resume,
    boolean again,
    long lastFence,
    LongSupplier millis,
    RunListener listener) {

  Coordinator.Wiring coordinator(ActorRef<Recorder.Command> recorder, ActorRef<Run.Command> run) {
    return new Coordinator.Wiring(
        new Coordination(settings.limits()),
        pool,
        publisher,
        journal,
        process,
        resume,
        again,
        lastFence,
        millis,
        () -> VerdictSummary.done(verifier.reports()),
        RunWiring::cpuSeconds,
        recorder,
        run,
        listener);
  }

  private static double cpuSeconds() {
    return ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .map(used -> used.toNanos() / 1e9)
        .orElse(Double.NaN);
  }

  TrainerTasks workshop(Consumer<TrainerTasks.WarmupProgress> progress) {
    return new TrainerTasks(engines, settings, pool, checkpoints, tokens, resume, progress);
  }

  RolloutWorker.Wiring worker(
      ActorRef<Coordinator.Command> coordinator,
      ActorRef<Trainer.Command> trainer,
      ActorRef<VerifierPool.Command> verifiers,
      ActorRef<Recorder.Command> recorder) {
    return new RolloutWorker.Wiring(
        engines,
        source,
        settings.sampling(),
        settings.limits().groups().size(),
        settings.groupsPerRequest(),
        coordinator,
        trainer,
        verifiers,
        recorder);
  }
}
