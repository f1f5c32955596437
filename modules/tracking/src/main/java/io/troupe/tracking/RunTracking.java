package io.troupe.tracking;

import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.file.LockedFile;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.export.ExportClient;
import io.troupe.telemetry.export.MlflowClient;
import io.troupe.tracking.feed.JournalFacts;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.RunFeed;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import io.troupe.tracking.server.MlflowTracker;
import io.troupe.tracking.server.TrackioTracker;
import io.troupe.tracking.tensorboard.TensorBoardTracker;
import io.troupe.tracking.wandb.WandbTracker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Sends a run to its trackers while the run continues, or after it. Each tracker has a thread and a
 * cursor of its own, so that one that does not answer delays no other one.
 */
public final class RunTracking implements AutoCloseable {
  /** The folder of the cursors and of system metrics, in the run folder. */
  public static final String FOLDER = "tracking";

  /** Interval in which the run folder is looked at. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final TrackingClock clock;
  private final List<TrackerLoop> loops;
  private final List<Thread> threads = new ArrayList<>();
  private final JournalFacts journal;
  private final List<Runnable> resources;
  private final LockedFile lock;

  private RunTracking(
      TrackingClock clock,
      List<TrackerLoop> loops,
      JournalFacts journal,
      List<Runnable> resources,
      LockedFile lock) {
    this.clock = clock;
    this.loops = loops;
    this.journal = journal;
    this.resources = resources;
    this.lock = lock;
  }

  /**
   * Starts to send.
   *
   * @param config texts of the run's configuration by path
   * @param environment of the process, which has the keys of the servers
   * @param sampling whether system metrics of this host are taken
   * @param say takes a sentence when a tracker fails, and when it works again
   * @return nothing when another process tracks the run
   */
  public static Optional<RunTracking> start(
      RunFolder folder,
      TrackingSettings settings,
      Map<String, String> config,
      Map<String, String> environment,
      boolean sampling,
      Consumer<String> say)
      throws IOException {
    return start(folder, settings, config, environment, sampling, new TrackingClock(LOOK), say);
  }

  static Optional<RunTracking> start(
      RunFolder folder,
      TrackingSettings settings,
      Map<String, String> config,
      Map<String, String> environment,
      boolean sampling,
      TrackingClock clock,
      Consumer<String> say)
      throws IOException {
    Path tracking = Files.createDirectories(folder.path().resolve(FOLDER));
    Optional<LockedFile> lock = LockedFile.tryLock(tracking, "lock");
    if (lock.isEmpty()) {
      return Optional.empty();
    }
    RunFacts facts = RunFacts.of(folder, settings.project(), config);
    JournalFacts journal = new JournalFacts(folder.journal(), settings.tables().every());
    List<Runnable> resources = new ArrayList<>();
    List<TrackerLoop> loops = new ArrayList<>();
    for (TrackerKind kind : settings.to()) {
      loops.add(
          new TrackerLoop(
              kind,
              tracker(kind, folder, facts, settings, environment, resources, say),
              new RunFeed(folder, facts, journal, settings.tables()),
              cursor(folder, kind),
              TrackerProblem.file(folder, kind),
              clock,
              say));
    }
    RunTracking made = new RunTracking(clock, loops, journal, resources, lock.get());
    if (sampling && !settings.systemEvery().isZero()) {
      JsonLinesFile file = JsonLinesFile.open(tracking.resolve(RunFeed.SYSTEM), Duration.ZERO, say);
      resources.add(file::close);
      made.start("system", new SystemSampler(file, tracking, settings.systemEvery(), clock, say));
    }
    for (TrackerLoop loop : loops) {
      made.start(loop.status().tracker().label(), loop);
    }
    return Optional.of(made);
  }

  private static Tracker tracker(
      TrackerKind kind,
      RunFolder folder,
      RunFacts facts,
      TrackingSettings settings,
      Map<String, String> environment,
      List<Runnable> resources,
      Consumer<String> say) {
    return switch (kind) {
      case TENSORBOARD -> new TensorBoardTracker(folder.path().resolve("tensorboard"), facts);
      case WANDB -> new WandbTracker(folder.path().resolve("wandb"), facts);
      case MLFLOW -> {
        MlflowClient client =
            new MlflowClient(
                settings.mlflow(), MlflowClient.credentials(environment), settings.patience());
        resources.add(client::close);
        yield new MlflowTracker(client, facts, say);
      }
      case TRACKIO -> {
        ExportClient client = new ExportClient("Trackio", settings.trackio(), settings.patience());
        resources.add(client::close);
        yield new TrackioTracker(
            settings.trackio(), environment.getOrDefault("TRACKIO_WRITE_TOKEN", ""), client, facts);
      }
    };
  }

  private static Path cursor(RunFolder folder, TrackerKind kind) {
    return folder.path().resolve(FOLDER).resolve(kind.label() + ".json");
  }

  private void start(String name, Runnable loop) {
    threads.add(Thread.ofPlatform().daemon().name("track-" + name).start(loop));
  }

  /**
   * Returns the progress of a run's trackers, by their cursors; for people, without a process that
   * sends.
   */
  public static List<TrackerStatus> statuses(
      RunFolder folder, TrackingSettings settings, Map<String, String> config) throws IOException {
    RunFacts facts = RunFacts.of(folder, settings.project(), config);
    List<TrackerStatus> statuses = new ArrayList<>();
    try (JournalFacts journal = new JournalFacts(folder.journal(), settings.tables().every())) {
      for (TrackerKind kind : settings.to()) {
        TrackerCursor cursor = TrackerCursor.read(cursor(folder, kind));
        boolean complete =
            new RunFeed(folder, facts, journal, settings.tables()).next(cursor, true).isEmpty();
        statuses.add(new TrackerStatus(kind, cursor.step(), cursor.remote(), complete, ""));
      }
    }
    return statuses;
  }

  /** Returns the progress of the trackers. */
  public List<TrackerStatus> status() {
    return loops.stream().map(TrackerLoop::status).toList();
  }

  /** Whether the journal says that the run has ended. */
  public boolean ended() {
    return journal.end().isPresent();
  }

  /** Returns the reason why exact times of steps are missing; "" if they are not. */
  public String journalProblem() {
    return journal.problem();
  }

  /**
   * Sends what is left of a run that has ended, or was interrupted.
   *
   * @param longest time limit of the work
   */
  public void finish(Duration longest) throws InterruptedException {
    clock.end(longest);
    long until = System.nanoTime() + longest.toNanos();
    for (Thread thread : threads) {
      long left = until - System.nanoTime();
      if (!thread.join(Duration.ofNanos(Math.max(1, left)))) {
        thread.interrupt();
      }
    }
    for (Thread thread : threads) {
      thread.join(); // An interrupted call ends at once.
    }
  }

  /** Ends at once; what was not sent is left for a later process. */
  @Override
  public void close() throws IOException {
    clock.end(Duration.ZERO);
    threads.forEach(Thread::interrupt);
    boolean interrupted = false;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException stop) {
        interrupted = true; // The threads are daemons.
      }
    }
    resources.forEach(Runnable::run);
    journal.close();
    lock.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
