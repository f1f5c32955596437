package io.troupe.runtime;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.typed.ActorRef;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalWriter;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.StepRow;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** A whole run of the toy policy in one process, any part of which a test may replace. */
final class SmallRun implements RunListener, AutoCloseable {
  /** Prompts of an evaluation. */
  static final int HELD_OUT = 8;

  private static final long PATIENCE_SECONDS = 120;

  /** The end of a run, and its state. */
  record Ended(RunEnd end, RunState state) {}

  final List<StepRow> rows = new CopyOnWriteArrayList<>();
  final List<String> notes = new CopyOnWriteArrayList<>();
  final List<Integer> warmups = new CopyOnWriteArrayList<>();
  final BlockingQueue<WorkerId> workers = new LinkedBlockingQueue<>();
  private final CompletableFuture<Ended> ended = new CompletableFuture<>();
  private final CompletableFuture<Run.RunActors> posts = new CompletableFuture<>();
  private final CompletableFuture<Void> thirdRow = new CompletableFuture<>();
  private final Path folder;
  private final JournalWriter journal;

  /** Called on the coordinator's thread. */
  Consumer<Event> onEvent = _ -> {};

  /** Called on the recorder's thread before each line. */
  Runnable onLine = () -> {};

  /** Called on the thread of the run's guardian. */
  Consumer<StepRow> onRow = _ -> {};

  VerifierService verifiers = Toys.service(Toys.verifier());

  SmallRun(Path folder) throws IOException {
    this.folder = folder;
    this.journal =
        JournalWriter.start(
            Journal.open(folder.resolve("journal"), JournalSettings.defaults()), 1024);
  }

  ActorRef<Run.Command> start(ActorTestKit actors, EngineRegistry room, RunSettings settings)
      throws IOException {
    long start = System.nanoTime();
    LongSupplier millis = () -> (System.nanoTime() - start) / 1_000_000;
    PromptPool pool = Toys.pool();
    InMemoryWeights weights = new InMemoryWeights();
    return actors.spawn(
        Run.create(
            new RunWiring(
                settings,
                room,
                pool,
                weights,
                weights,
                settings.workers(),
                posts::complete,
                StepEvaluations.of(
                    new HeldOutEvaluation(
                        Toys.prompts(),
                        HELD_OUT,
                        Toys.policy().tokenizer(),
                        Toys.service(Toys.verifier()),
                        3)),
                verifiers,
                journal,
                Checkpoints.open(Files.createDirectories(folder.resolve("checkpoints"))),
                StepTokenFiles.off(),
                TraceFiles.open(
                    Files.createDirectories(folder.resolve("traces")),
                    pool,
                    () -> {
                      onLine.run();
                      return millis.getAsLong();
                    },
                    notes::add),
                new ProcessFacts(new TreeMap<>(), ""),
                Optional.empty(),
                false,
                0,
                millis,
                this)));
  }

  Run.RunActors posts() {
    return posts.join();
  }

  /** Ends the run as a signal does. */
  void drain() {
    posts().coordinator().tell(new Coordinator.Tell(new Input.DrainRequested()));
  }

  void awaitThirdRow() throws Exception {
    thirdRow.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  Ended awaitEnd() throws Exception {
    return ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** The next worker that asks for work under a name that is new. */
  WorkerId awaitWorker() throws Exception {
    return Optional.ofNullable(workers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).orElseThrow();
  }

  /** Steps of the checkpoints, all of which are whole. */
  List<Long> checkpoints() throws IOException {
    var listing = Checkpoints.view(folder.resolve("checkpoints")).verify();
    if (!listing.broken().isEmpty()) {
      throw new AssertionError(listing.broken());
    }
    return listing.whole().stream().map(one -> one.step()).toList();
  }

  /** The lines of a trace. */
  List<String> trace(String name) throws IOException {
    return Files.readAllLines(folder.resolve("traces").resolve(name + ".jsonl"));
  }

  /** The state in a checkpoint. */
  RunState savedAt(long step) throws IOException {
    Path state =
        folder.resolve("checkpoints").resolve("step" + step).resolve(TrainerTasks.STATE_FILE);
    return StateSnapshot.read(state).orElseThrow().state();
  }

  List<Long> steps() {
    return rows.stream().map(StepRow::step).toList();
  }

  @Override
  public void warmup(TrainerTasks.WarmupProgress progress) {
    warmups.add(progress.step());
  }

  @Override
  public void row(StepRow row) {
    rows.add(row);
    onRow.accept(row);
    if (rows.size() == 3) {
      thirdRow.complete(null);
    }
  }

  @Override
  public void note(String sentence) {
    notes.add(sentence);
  }

  @Override
  public void happened(long atMillis, Event event) {
    if (event instanceof Event.DemandRaised(WorkerId worker, long total)
        && total == Toys.GROUPS_PER_REQUEST) {
      workers.add(worker);
    }
    onEvent.accept(event);
  }

  @Override
  public void ended(RunEnd end, RunState state) {
    ended.complete(new Ended(end, state));
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
