package io.troupe.run.session;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.config.RunConfig;
import io.troupe.core.outage.Backoff;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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

  /** For the start and the end of the process, beyond the time for sending. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  private final RunFolder folder;
  private final Duration atEnd;
  private final Consumer<String> say;
  private final Optional<ChildProcesses> children;
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private boolean started;
  private volatile boolean ending;

  private RunTrackers(RunConfig config, RunFolder folder, Consumer<String> say) {
    this.folder = folder;
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
