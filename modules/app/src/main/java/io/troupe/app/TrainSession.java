package io.troupe.app;

import io.troupe.app.config.RecordingSection;
import io.troupe.app.console.PolicyChat;
import io.troupe.app.console.RunConsole;
import io.troupe.cluster.Announcements;
import io.troupe.cluster.Joining.CannotJoinException;
import io.troupe.cluster.ranks.RankHall;
import io.troupe.console.Chat;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.trace.LineBacklog;
import io.troupe.engine.PolicyEngines;
import io.troupe.runtime.EngineRoom;
import io.troupe.runtime.Examination;
import io.troupe.runtime.PromptPool;
import io.troupe.runtime.Run;
import io.troupe.runtime.RunListener;
import io.troupe.runtime.RunSettings;
import io.troupe.runtime.RunWiring;
import io.troupe.runtime.Traces;
import io.troupe.runtime.TrainerWorkshop;
import io.troupe.runtime.Tryout;
import io.troupe.runtime.WeightsInMemory;
import io.troupe.store.Checkpoints;
import io.troupe.store.Journal;
import io.troupe.store.JournalException;
import io.troupe.store.JournalSettings;
import io.troupe.store.JournalTidier;
import io.troupe.store.JournalWriter;
import io.troupe.store.JsonLines;
import io.troupe.store.RunFolder;
import io.troupe.telemetry.StepRow;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.Troubles;
import java.io.IOException;
import java.io.PrintStream;
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
final class TrainSession {
  private static final Duration TERMINATION = Duration.ofSeconds(10);

  /** For engines, once a second signal ends the process; service managers kill after 90 s. */
  private static final Duration STOPPING = Duration.ofSeconds(30);

  private static final Duration METRICS_FLUSH = Duration.ZERO;

  /** How long the engine of the console's questions stays when nobody asks. */
  private static final Duration TRYOUT_KEPT = Duration.ofMinutes(5);

  /** How a session ended. */
  record Outcome(RunEnd end, RunState state) {}

  /** How long the one before may take to let go of the journal. */
  private static final Duration HAND_OVER = Duration.ofSeconds(60);

  private static final long LOOK_AGAIN_MILLIS = 250;

  private final Composition composition;
  private final Stage stage;
  private final RunFolder folder;
  private final boolean again;
  private final Optional<String> changed;
  private final PrintStream out;
  private final PrintStream err;
  private final boolean json;

  /**
   * A session that has not touched anything yet.
   *
   * @param again whether the run was worked on before, and goes on
   * @param changed the resolved configuration, where this session changes it
   */
  TrainSession(
      Composition composition,
      Stage stage,
      RunFolder folder,
      boolean again,
      Optional<String> changed,
      PrintStream out,
      PrintStream err,
      boolean json) {
    this.composition = composition;
    this.stage = stage;
    this.folder = folder;
    this.again = again;
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
  int run() throws IOException, InterruptedException, BadVerifierException, CannotJoinException {
    if (!stage.enter()) {
      return ExitCode.OK.code();
    }
    long start = System.nanoTime();
    LongSupplier millis = () -> (System.nanoTime() - start) / 1_000_000;
    JournalSettings journalSettings = JournalSettings.defaults();
    Journal journal = open(journalSettings);
    try (JournalWriter writer = JournalWriter.start(journal, journalSettings.queueCapacity());
        JournalTidier tidier =
            JournalTidier.start(
                folder, composition.config().recording().journalBytes(), err::println)) {
      if (changed.isPresent()) {
        folder.replaceResolved(changed.get());
      }
      RunSettings settings = composition.settings();
      ResumePoint resume = again ? ResumePoint.find(folder) : ResumePoint.none();
      if (stage.inherits() && resume.over()) {
        return ExitCode.OK.code();
      }
      if (again) {
        resume = resume.cutMetrics(folder);
      }
      Screen screen =
          new Screen(
              out,
              err,
              json,
              Terminal.table(out),
              JsonLines.open(folder.metrics(), METRICS_FLUSH, err::println),
              settings.limits().completionsPerPrompt());
      notes(journal, resume).forEach(screen::note);
      CompletableFuture<EngineRoom> opened = new CompletableFuture<>();
      Signals signals = watchSignals(opened, screen);
      CompletableFuture<Outcome> ended = new CompletableFuture<>();
      Outcome outcome;
      PolicyEngines engines =
          TaughtEngines.of(
              composition.config(),
              composition.engines(folder, stage.gpus(), stage.hall(), screen::note),
              screen::say);
      try (VerifierPools verifiers = composition.openVerifiers(true);
          Servers servers = servers(settings, engines, screen);
          EngineRoom room = new EngineRoom(engines, servers.samplers(engines), servers::retired);
          RunConsole console =
              RunConsole.open(
                  composition.config().console(),
                  folder,
                  settings.limits(),
                  verifiers.all(),
                  stage.system(),
                  stage,
                  chat(room),
                  screen::say)) {
        opened.complete(room);
        new Banner(composition, folder, resume, stage.workers(settings.workers()))
            .lines(room.engines())
            .forEach(screen::say);
        console.link().ifPresent(link -> screen.say(Announcements.CONSOLE + link));
        start(
            settings,
            writer,
            resume,
            room,
            verifiers,
            millis,
            screen,
            listener(screen, console.fold(), tidier, ended));
        outcome = await(ended);
        verifiers.all().reports().forEach(report -> screen.say("verifier " + report.sentence()));
        servers.report().forEach(screen::say);
      }
      screen.account(outcome.end(), outcome.state(), Duration.ofNanos(System.nanoTime() - start));
      return close(screen, outcome, signals);
    }
  }

  /** Those that a worker of this process drives; the nodes of a cluster have their own. */
  private Servers servers(RunSettings settings, PolicyEngines engines, Screen screen)
      throws IOException, InterruptedException {
    return stage.workers(settings.workers()) == 0
        ? Servers.none()
        : Servers.open(
            composition.config(),
            stage.sidecars(composition.config().rollout().sidecars().count()),
            engines,
            folder.resolved(),
            folder.path().resolve("servers"),
            screen::say);
  }

  /** Answers by the newest weights where they are in this process, next to an engine. */
  private Chat chat(EngineRoom room) throws IOException {
    Optional<WeightsInMemory> weights = stage.inMemory();
    if (weights.isEmpty()) {
      return Chat.closed(
          "The workers of this run are in other processes, and its head has no engine that draws. A"
              + " checkpoint can be asked: troupe serve "
              + name());
    }
    return new PolicyChat(
        new Tryout(
            room,
            weights.get()::newest,
            CompletableFuture.delayedExecutor(TRYOUT_KEPT.toSeconds(), TimeUnit.SECONDS)),
        room.engines().tokenizer(),
        room.engines().contextLength(),
        composition.chatTemplate(),
        composition.config().sampling(),
        composition.task().heldOut(),
        () -> ThreadLocalRandom.current().nextLong());
  }

  /** Opens the journal; waits for a head that has lost its seat but not yet its process. */
  private Journal open(JournalSettings settings) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + (stage.inherits() ? HAND_OVER.toNanos() : 0);
    while (true) {
      try {
        return Journal.open(folder.journal(), settings);
      } catch (JournalException.Locked held) {
        if (System.nanoTime() >= deadline) {
          throw held;
        }
        Thread.sleep(LOOK_AGAIN_MILLIS);
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
                    "intact records stood behind a hole in what was dropped, as a power loss leaves"
                        + " them: they are kept in "
                        + copy));
    notes.addAll(resume.notes());
    return notes;
  }

  private void start(
      RunSettings settings,
      JournalWriter journal,
      ResumePoint resume,
      EngineRoom room,
      VerifierPools verifiers,
      LongSupplier millis,
      Screen screen,
      RunListener listener)
      throws IOException {
    PromptPool pool =
        new PromptPool(
            composition.task().train(), composition.tokenizer(), composition.config().run().seed());
    RunWiring wiring =
        new RunWiring(
            settings,
            room,
            pool,
            stage.outlet(),
            stage.source(),
            stage.workers(settings.workers()),
            stage::open,
            new Examination(
                composition.task().heldOut(),
                settings.evaluationPrompts(),
                composition.tokenizer(),
                verifiers.evaluation(),
                composition.evaluationSampling()),
            verifiers.rewards(),
            journal,
            Checkpoints.open(folder.checkpoints(), journal.fence()),
            traces(pool, millis, screen),
            resume.checkpoint(),
            resume.again(),
            resume.lastFence(),
            millis,
            listener);
    stage.start(Run.create(wiring), screen::note);
  }

  private Traces traces(PromptPool pool, LongSupplier millis, Screen screen) throws IOException {
    RecordingSection recording = composition.config().recording();
    return recording.writesTraces()
        ? Traces.open(folder.traces(), recording.traceBytes(), pool, millis, screen::say)
        : Traces.off(pool);
  }

  private static RunListener listener(
      Screen screen,
      Optional<RunFold> fold,
      JournalTidier tidier,
      CompletableFuture<Outcome> ended) {
    Troubles troubles = new Troubles();
    Troubles ofTraces = new Troubles(); // From another thread than events.
    return new RunListener() {
      @Override
      public void warmup(TrainerWorkshop.WarmupProgress progress) {
        screen.warmup(progress);
      }

      @Override
      public void row(StepRow row) {
        screen.row(row);
        fold.ifPresent(view -> view.row(row.toMap()));
      }

      @Override
      public void happened(long atMillis, Event event) {
        fold.ifPresent(view -> view.event(atMillis, event));
        troubles.event(atMillis, event).ifPresent(screen::note);
        if (event instanceof Event.CheckpointSaved) {
          tidier.checkpointed();
        }
      }

      @Override
      public void note(String sentence) {
        screen.note(sentence);
      }

      @Override
      public void traces(LineBacklog backlog) {
        long at = System.currentTimeMillis();
        fold.ifPresent(view -> view.traces(at, backlog));
        ofTraces.traces(at, backlog).ifPresent(screen::note);
      }

      @Override
      public void ended(RunEnd end, RunState state) {
        screen.ended(end, state);
        ended.complete(new Outcome(end, state));
      }
    };
  }

  private Signals watchSignals(CompletableFuture<EngineRoom> opened, Screen screen) {
    return Signals.install(
        _ -> {
          screen.say(
              "draining: groups in flight may finish, then everything is saved"
                  + " (again to stop now, from the last checkpoint)");
          var _ = stage.system().thenAccept(system -> system.tell(new Run.Drain()));
        },
        number -> {
          screen.say(
              "stopping now; engines have %d s to end what they compute"
                  .formatted(STOPPING.toSeconds()));
          screen.say("resume " + resumeCommand());
          stage.hall().ifPresent(RankHall::close); // The trainer may wait for ranks.
          var _ = opened.thenAccept(room -> stop(room, screen));
          Runtime.getRuntime().halt(ExitCode.ofSignal(number));
        });
  }

  private static void stop(EngineRoom room, Screen screen) {
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

  private int close(Screen screen, Outcome outcome, Signals signals) {
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
    words.addAll(stage.again());
    return String.join(" ", words);
  }
}
