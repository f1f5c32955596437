package io.troupe.run.session;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.config.RunConfig;
import io.troupe.core.outage.Backoff;
import io.troupe.store.folder.RunFolder;
import io.troupe.tracking.TrackerKind;
import io.troupe.tracking.TrackerProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The process that sends a run to its trackers ({@code troupe track}), if the configuration names
 * any. It reads the run folder and shares nothing else with the run, so that no tracker delays a
 * step. When it ends early it is started again.
 */
final class RunTrackers implements AutoCloseable {
  private static final String NAME = "track";
  private static final int HEAP_MEBIBYTES = 256;
  private static final Backoff RESTARTS = new Backoff(1_000, 60_000);

  /** Interval in which it is looked for what the process has met. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  /** For the start and the end of the process, beyond the time for sending. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  /** Takes how a tracker is. */
  @FunctionalInterface
  interface Watcher {
    /**
     * Takes how one tracker is.
     *
     * @param step the last one that the tracker has; -1 before the first
     * @param problem why the tracker fails; "" if it does not
     */
    void tracker(String name, long step, String problem);
  }

  private final RunFolder folder;
  private final List<TrackerKind> kinds;
  private final Duration atEnd;
  private final Consumer<String> say;
  private final Optional<ChildProcesses> children;
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private boolean started;
  private volatile boolean ending;

  private RunTrackers(RunConfig config, RunFolder folder, Consumer<String> say) {
    this.folder = folder;
    this.kinds = config.tracking();
    this.atEnd = config.trackers().atEnd();
    this.say = say;
    this.children =
        config.tracking().isEmpty() ? Optional.empty() : Optional.of(new ChildProcesses());
  }

  /**
   * The trackers of a run, whose process is not started yet.
   *
   * @param say takes a sentence at the end, and when the process ends early
   */
  static RunTrackers of(RunConfig config, RunFolder folder, Consumer<String> say) {
    return new RunTrackers(config, folder, say);
  }

  /** Starts the process. */
  void start() throws IOException {
    if (children.isPresent()) {
      started = true;
      Path tracking = Files.createDirectories(folder.path().resolve(NAME + "ing"));
      spawn(children.get(), tracking.resolve("process.log").toAbsolutePath(), 0);
    }
  }

  /** Reports the state of each tracker, now and then, until this is closed. */
  void watch(Watcher watcher) {
    if (children.isPresent()) {
      Thread.ofVirtual().name("watch-trackers").start(() -> look(watcher));
    }
  }

  private void look(Watcher watcher) {
    try {
      do {
        kinds.forEach(kind -> tell(watcher, kind));
      } while (!closed.await(LOOK.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void tell(Watcher watcher, TrackerKind kind) {
    try {
      Optional<TrackerProblem> problem = TrackerProblem.read(folder, kind);
      watcher.tracker(
          kind.label(),
          problem.map(TrackerProblem::step).orElse(-1L),
          problem.map(TrackerProblem::reason).orElse(""));
    } catch (IOException unread) {
      watcher.tracker(kind.label(), -1, String.valueOf(unread.getMessage()));
    }
  }

  private void spawn(ChildProcesses processes, Path log, int failures) {
    List<String> command = new ArrayList<>(ChildJvm.command(HEAP_MEBIBYTES));
    command.addAll(List.of(NAME, folder.path().toAbsolutePath().toString(), "--child"));
    Map<String, String> environment = ChildJvm.environment();
    Path here = Path.of("").toAbsolutePath();
    var _ =
        processes
            .start(new ChildSpec(NAME, command, environment, here, log))
            .whenComplete(
                (exit, failure) -> {
                  if (ending) {
                    ended.complete(failure == null ? exit.code() : -1);
                  } else {
                    again(processes, log, failures + 1, String.valueOf(failure));
                  }
                });
  }

  private void again(ChildProcesses processes, Path log, int failures, String failure) {
    if (failures == 1) {
      say.accept(
          "the process of the trackers has ended (%s) and is started again; see %s"
              .formatted(failure, log));
    }
    long pause = RESTARTS.pauseMillis(failures, ThreadLocalRandom.current().nextDouble());
    CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              if (ending) {
                ended.complete(-1);
              } else {
                spawn(processes, log, failures);
              }
            });
  }

  /** Waits until everything is sent, but not longer than was set. */
  @Override
  public void close() {
    if (children.isEmpty()) {
      return;
    }
    ending = true;
    closed.countDown();
    try (ChildProcesses processes = children.get()) {
      if (started) {
        processes.drain(NAME);
        int code = ended.get(atEnd.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
        report(code == 0);
      }
    } catch (TimeoutException late) {
      report(false);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("the end of the trackers does not fail", impossible);
    }
  }

  private void report(boolean complete) {
    say.accept(
        complete
            ? "track  the trackers have the whole run"
            : "track  a tracker lacks part of the run; send it: troupe track %s"
                .formatted(folder.path()));
  }
}
