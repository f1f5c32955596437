package io.troupe.run.session;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.BoundedCloser;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.config.RecordingSection;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.console.chat.Chat;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.http.broadcast.WeightRoute;
import io.troupe.ranks.RankRegistry;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.DistillationEngines;
import io.troupe.run.compose.RunInferenceServers;
import io.troupe.run.console.PolicyChat;
import io.troupe.run.console.RunConsole;
import io.troupe.run.evaluation.CheckpointWatcher;
import io.troupe.run.evaluation.NamedEvaluations;
import io.troupe.run.hook.ResultsFile;
import io.troupe.run.replay.ComputedWith;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.AdHocSampling;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.HeldOutEvaluation;
import io.troupe.runtime.Run;
import io.troupe.runtime.RunListener;
import io.troupe.runtime.RunWiring;
import io.troupe.runtime.StepEvaluations;
import io.troupe.runtime.TraceFiles;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalWriter;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.UnreachedMark;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * One process's part of a run: opens what the run needs, starts the actors, waits for the end, and
 * closes everything in the order that loses nothing: actors, engines, journal.
 *
 * <p>The journal comes first, because its lock is the right to work on the run: a process that does
 * not get it has changed nothing. Signals are handled before the engines are loaded, because the
 * JVM's own answer to them is an exit in the middle of native code.
 */
public final class TrainSession {
  private static final Duration TERMINATION = Duration.ofSeconds(10);

  /** For engines, once a second signal ends the process; service managers kill after 90 s. */
  private static final Duration STOPPING = Duration.ofSeconds(30);

  /** For each part of a run that is over; a step of the trainer may still be under way. */
  private static final Duration CLOSING = Duration.ofMinutes(10);

  private static final Duration CLOSING_NOTICE = Duration.ofSeconds(30);

  private static final Duration METRICS_FLUSH = Duration.ZERO;

  /** The time for which the engine of the console's chat stays open without a question. */
  private static final Duration CHAT_SAMPLER_IDLE = Duration.ofMinutes(5);

  /** The end of a session. */
  record Outcome(RunEnd end, RunState state) {}

  /** The time in which the process before must release the journal. */
  private static final Duration HANDOVER_TIMEOUT = Duration.ofSeconds(60);

  private static final long POLL_MILLIS = 250;

  private final Composition composition;
  private final RunEnvironment stage;
  private final RunFolder folder;
  private final boolean resumed;
  private final Optional<String> changed;
  private final PrintStream out;
  private final PrintStream err;
  private final boolean json;

  /**
   * A session that has not touched anything yet.
   *
   * @param again whether the run was worked on before, and continues
   * @param changed the resolved configuration, where this session changes it
   */
  public TrainSession(
      Composition composition,
      RunEnvironment stage,
      RunFolder folder,
      boolean again,
      Optional<String> changed,
      PrintStream out,
      PrintStream err,
      boolean json) {
    this.composition = composition;
    this.stage = stage;
    this.folder = folder;
    this.resumed = again;
    this.changed = changed;
    this.out = out;
    this.err = err;
    this.json = json;
  }

  /**
   * Trains until the run ends.
   *
   * @return the exit code
   */
  public int run()
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    if (!stage.enter()) {
      return ExitCode.OK.code();
    }
    long start = System.nanoTime();
    Journal journal = open(JournalSettings.defaults());
    BoundedCloser files = closer();
    BoundedCloser actors = closer();
    int code;
    try (files) {
      code = train(journal, files, actors, start);
    }
    if (files.incomplete() || actors.incomplete()) {
      out.flush();
      err.flush();
      Runtime.getRuntime().halt(code); // An exit would wait for it, or crash in its native code.
    }
    return code;
  }

  private BoundedCloser closer() {
    return new BoundedCloser(CLOSING_NOTICE, CLOSING, err::println);
  }

  /** Trains; what it adds to {@code files} is closed by the caller. */
  private int train(Journal journal, BoundedCloser files, BoundedCloser actors, long start)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    LongSupplier millis = () -> (System.nanoTime() - start) / 1_000_000;
    SessionFiles writing =
        SessionFiles.open(composition.config(), folder, journal, files, err::println);
    if (changed.isPresent()) {
      folder.replaceResolved(changed.get());
    }
    RunSettings settings = composition.settings();
    ResumePoint resume = resumed ? ResumePoint.find(folder) : ResumePoint.none();
    if (stage.takesOver() && resume.runEnded()) {
      return ExitCode.OK.code();
    }
    if (resumed) {
      resume.checkChoice(settings.limits());
      resume = resume.cutMetrics(folder);
    }
    writing.trackers().start();
    RunOutput screen = screen(settings);
    notes(journal, resume).forEach(screen::note);
    CheckpointWatcher watcher =
        files.add(
            () -> "the watcher of checkpoints",
            "checkpoints that it has not evaluated; `troupe eval watch` does",
            CheckpointWatcher.start(composition.config(), folder, stage.gpuOption(), screen::say));
    CompletableFuture<EngineRegistry> opened = new CompletableFuture<>();
    Signals signals = watchSignals(opened, screen);
    Outcome outcome;
    try (actors) {
      outcome = act(settings, resume, writing, actors, opened, screen, millis);
    }
    screen.account(outcome.end(), outcome.state(), Duration.ofMillis(millis.getAsLong()));
    screen.refused(composition.task().refused());
    results(outcome, screen);
    watcher.end(outcome.end() instanceof RunEnd.Completed);
    writing.hooks().end(outcome.state().version().number());
    return close(screen, outcome, signals);
  }

  private RunOutput screen(RunSettings settings) throws IOException {
    return new RunOutput(
        out,
        err,
        json,
        Terminal.table(out),
        JsonLinesFile.open(folder.metrics(), METRICS_FLUSH, err::println),
        settings.limits().groups().size());
  }

  /**
   * Opens engines, verifiers and the console, starts the actors, and waits for the run's end.
   *
   * @param actors closes all that is opened here, the last one first
   * @param opened completes with the engines once they are open
   */
  private Outcome act(
      RunSettings settings,
      ResumePoint resume,
      SessionFiles files,
      BoundedCloser actors,
      CompletableFuture<EngineRegistry> opened,
      RunOutput screen,
      LongSupplier millis)
      throws IOException, InterruptedException, InvalidVerifierException {
    CompletableFuture<Outcome> ended = new CompletableFuture<>();
    var _ = ended.thenAccept(result -> stage.ended(result.end()));
    PolicyEngines engines = engines(screen);
    VerifierPools verifiers =
        actors.add(() -> "a verifier", "nothing", composition.openVerifiers(true));
    NamedEvaluations named =
        actors.add(
            () -> "the tasks of evaluations",
            "nothing",
            NamedEvaluations.load(composition, engines.contextLength()));
    RunInferenceServers servers =
        actors.add(() -> "an inference server", "nothing", servers(settings, engines, screen));
    EngineRegistry room = new EngineRegistry(engines, servers.samplers(engines), servers::retired);
    actors.add(room::closing, "nothing, the run is saved", room);
    RunConsole console =
        actors.add(() -> "the console", "nothing", console(settings, verifiers, room, screen));
    opened.complete(room);
    console.fold().ifPresent(fold -> watch(files, fold));
    new RunBanner(composition, folder, resume, stage.workers(settings.workers()))
        .lines(room.engines())
        .forEach(screen::say);
    console.link().ifPresent(link -> screen.say(Announcements.CONSOLE + link));
    start(
        settings,
        files.journal(),
        resume,
        room,
        new Judging(verifiers, named),
        millis,
        screen,
        new SessionListener(
            screen,
            console.fold(),
            proof(room, screen),
            files,
            composition.config().evaluates() ? Optional.empty() : Optional.of(new UnreachedMark()),
            ended));
    Outcome outcome = await(ended);
    verifiers.all().reports().forEach(report -> screen.say("verifier " + report.sentence()));
    servers.report().forEach(screen::say);
    return outcome;
  }

  private PolicyEngines engines(RunOutput screen) throws IOException, InterruptedException {
    return DistillationEngines.of(
        composition.config(),
        composition.engines(
            folder, stage.gpus(), stage.ranks(), new JournalledRanks(this::decide, screen::note)),
        screen::say);
  }

  private RunConsole console(
      RunSettings settings, VerifierPools verifiers, EngineRegistry room, RunOutput screen)
      throws IOException {
    return RunConsole.open(
        composition.config().console(),
        folder,
        settings.limits(),
        verifiers.all(),
        stage.started(),
        stage,
        chat(room),
        screen::say);
  }

  /** Shows the progress of copy and trackers in the console. */
  private static void watch(SessionFiles files, RunFold fold) {
    files.copy().watch(view -> fold.copy(System.currentTimeMillis(), view));
    files
        .trackers()
        .watch(
            (name, step, problem) -> fold.tracker(System.currentTimeMillis(), name, step, problem));
  }

  /** A run that ends in order leaves a summary; without one it is as good. */
  private void results(Outcome outcome, RunOutput screen) {
    String end =
        switch (outcome.end()) {
          case RunEnd.Completed _ -> "The run is complete";
          case RunEnd.Interrupted _ -> "The run was interrupted";
          case RunEnd.Failed(String reason) -> "The run failed: " + reason;
        };
    try {
      ResultsFile.write(folder, end, resumeCommand());
    } catch (IOException unwritten) {
      screen.say("RESULTS.md is not written: " + unwritten.getMessage());
    }
  }

  /**
   * Opens the servers that a worker of this process drives; the nodes of a cluster have their own.
   */
  private RunInferenceServers servers(RunSettings settings, PolicyEngines engines, RunOutput screen)
      throws IOException, InterruptedException {
    boolean none = stage.workers(settings.workers()) == 0;
    if (none && composition.config().rollout().weights() == WeightRoute.NCCL) {
      throw new IOException(
          "rollout.weights: nccl is for servers that this process drives, and those of nodes read"
              + " files; set rollout.weights: files, or train without --cluster");
    }
    return none
        ? RunInferenceServers.none()
        : RunInferenceServers.open(
            composition.config(),
            stage.sidecars(composition.config().rollout().sidecars().count()),
            engines,
            folder.resolved(),
            folder.path().resolve("servers"),
            screen::say);
  }

  /** Answers by the newest weights where they are in this process, next to an engine. */
  private Chat chat(EngineRegistry room) throws IOException {
    Optional<InMemoryWeights> weights = stage.inMemory();
    if (weights.isEmpty()) {
      return Chat.closed(
          "The workers of this run are in other processes, and its coordinator has no engine that"
              + " samples. A checkpoint can be asked: troupe serve "
              + name());
    }
    return new PolicyChat(
        new AdHocSampling(
            room,
            weights.get()::newest,
            CompletableFuture.delayedExecutor(CHAT_SAMPLER_IDLE.toSeconds(), TimeUnit.SECONDS)),
        room.engines().tokenizer(),
        room.engines().contextLength(),
        composition.chatTemplate(),
        composition.config().sampling(),
        composition.task().heldOut(),
        () -> ThreadLocalRandom.current().nextLong());
  }

  /**
   * Returns the proof of new weights where the weights are in this process, and there is room for
   * them a second time.
   */
  private Optional<GreedyProof> proof(EngineRegistry room, RunOutput screen) {
    Optional<InMemoryWeights> weights = stage.inMemory();
    if (weights.isEmpty() || !composition.hasRoomForGreedyLine()) {
      return Optional.empty();
    }
    return Optional.of(
        new GreedyProof(
            new AdHocSampling(room, weights.get()::newest, Runnable::run),
            room.engines(),
            composition.task().train().getFirst().text(),
            screen::say));
  }

  /** Opens the journal; waits for a former coordinator whose process has not ended yet. */
  private Journal open(JournalSettings settings) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + (stage.takesOver() ? HANDOVER_TIMEOUT.toNanos() : 0);
    while (true) {
      try {
        return Journal.open(folder.journal(), settings);
      } catch (JournalException.Locked held) {
        if (System.nanoTime() >= deadline) {
          throw held;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private static List<String> notes(Journal journal, ResumePoint resume) {
    List<String> notes = new ArrayList<>();
    if (journal.recovery().bytesDropped() > 0) {
      notes.add(
          "the journal's last record was cut off by the end of its process: %d bytes dropped"
              .formatted(journal.recovery().bytesDropped()));
    }
    journal
        .recovery()
        .copy()
        .ifPresent(
            copy ->
                notes.add(
                    "intact records were behind a hole in what was dropped, as a power loss leaves"
                        + " them: they are kept in "
                        + copy));
    notes.addAll(resume.notes());
    return notes;
  }

  /** The judges of rollouts and evaluations. */
  private record Judging(VerifierPools verifiers, NamedEvaluations named) {}

  private void start(
      RunSettings settings,
      JournalWriter journal,
      ResumePoint resume,
      EngineRegistry room,
      Judging judging,
      LongSupplier millis,
      RunOutput screen,
      RunListener listener)
      throws IOException {
    PromptPool pool = composition.pool();
    StepEvaluations evaluations = evaluations(settings, judging);
    RunWiring wiring =
        new RunWiring(
            settings,
            room,
            pool,
            stage.outlet(),
            stage.source(),
            stage.workers(settings.workers()),
            stage::actorsStarted,
            evaluations,
            judging.verifiers().rewards(),
            journal,
            Checkpoints.open(folder.checkpoints(), journal.fence()),
            tokens(screen),
            traces(pool, millis, screen),
            ComputedWith.process(room.engines(), composition, Files.readString(folder.resolved())),
            resume.checkpoint(),
            resume.again(),
            resume.lastFence(),
            millis,
            listener);
    stage.start(Run.create(wiring), screen::note);
  }

  private StepEvaluations evaluations(RunSettings settings, Judging judging) throws IOException {
    HeldOutEvaluation own =
        new HeldOutEvaluation(
            composition.task().heldOut(),
            settings.evaluationPrompts(),
            composition.tokenizer(),
            judging.verifiers().evaluation(),
            composition.evaluationSampling());
    List<StepEvaluations.Scheduled> all = new ArrayList<>();
    all.add(
        new StepEvaluations.Scheduled(
            NamedEvaluation.HELD_OUT, composition.config().evaluation().every(), own));
    all.addAll(judging.named().scheduled(judging.verifiers().evaluation()));
    return new StepEvaluations(
        all, settings.limits().schedule().steps(), composition.config().evaluation().targetOf());
  }

  private StepTokenFiles tokens(RunOutput screen) throws IOException {
    RecordingSection recording = composition.config().recording();
    return recording.writesTokens()
        ? StepTokenFiles.open(folder.tokens(), recording.tokenBytes(), screen::say)
        : StepTokenFiles.off();
  }

  private TraceFiles traces(PromptPool pool, LongSupplier millis, RunOutput screen)
      throws IOException {
    RecordingSection recording = composition.config().recording();
    return recording.writesTraces()
        ? TraceFiles.open(folder.traces(), recording.traceBytes(), pool, millis, screen::say)
        : TraceFiles.off(pool);
  }

  private Signals watchSignals(CompletableFuture<EngineRegistry> opened, RunOutput screen) {
    return Signals.install(
        _ -> {
          screen.say(
              "draining: groups in flight may finish, then everything is saved"
                  + " (again to stop now, from the last checkpoint)");
          decide(new Input.DrainRequested());
        },
        number -> {
          screen.say(
              "stopping now; engines have %d s to end what they compute"
                  .formatted(STOPPING.toSeconds()));
          screen.say("resume " + resumeCommand());
          stage.ranks().ifPresent(RankRegistry::close); // The trainer may wait for ranks.
          var _ = opened.thenAccept(room -> stop(room, screen));
          Runtime.getRuntime().halt(ExitCode.ofSignal(number));
        });
  }

  /** Asks the coordinator to decide on an input, as soon as there is one. */
  private void decide(Input input) {
    var _ = stage.started().thenAccept(run -> run.coordinator().tell(new Coordinator.Tell(input)));
  }

  private static void stop(EngineRegistry room, RunOutput screen) {
    try {
      room.closeWithin(STOPPING)
          .ifPresent(
              hung ->
                  screen.say(
                      "%s has not answered for %d s; the process ends without it"
                          .formatted(hung, STOPPING.toSeconds())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The process ends at once in any case.
    }
  }

  private Outcome await(CompletableFuture<Outcome> ended) throws InterruptedException {
    CompletableFuture<?> terminated = stage.terminated().toCompletableFuture();
    CompletableFuture<Outcome> orDead =
        terminated.thenApply(
            _ ->
                new Outcome(
                    new RunEnd.Failed("the actor system ended by itself; see the log above"),
                    RunState.INITIAL));
    try {
      Outcome outcome = (Outcome) CompletableFuture.anyOf(ended, orDead).get();
      terminated.get(TERMINATION.toMillis(), TimeUnit.MILLISECONDS);
      return ended.getNow(outcome);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      // The actors are of no use any more; engines and journal are closed next in any case.
      return ended.join();
    }
  }

  private int close(RunOutput screen, Outcome outcome, Signals signals) {
    screen.say("folder " + folder.path());
    return switch (outcome.end()) {
      case RunEnd.Completed _ -> {
        screen.say("more   %s --set training.steps=N".formatted(resumeCommand()));
        yield ExitCode.OK.code();
      }
      case RunEnd.Interrupted _ -> {
        screen.say("resume " + resumeCommand());
        yield signals.received().stream()
            .map(ExitCode::ofSignal)
            .findFirst()
            .orElse(ExitCode.OK.code());
      }
      case RunEnd.Failed(String reason) -> {
        screen.say("error: " + reason);
        screen.say("resume " + resumeCommand());
        yield ExitCode.FAILED.code();
      }
    };
  }

  private String name() {
    return folder.path().toString();
  }

  private String resumeCommand() {
    List<String> words = new ArrayList<>(List.of("troupe", "train", "--resume", name()));
    words.addAll(stage.resumeArguments());
    return String.join(" ", words);
  }
}
