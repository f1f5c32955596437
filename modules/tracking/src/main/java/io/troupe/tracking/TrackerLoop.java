package io.troupe.tracking;

import io.troupe.telemetry.export.ServerRefusedException;
import io.troupe.tracking.feed.Batch;
import io.troupe.tracking.feed.RunFeed;
import io.troupe.tracking.feed.Tracker;
import io.troupe.tracking.feed.TrackerCursor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Sends a run to one tracker, on a thread of its own. A batch that could not be sent is sent again
 * after a pause, for as long as it takes; the cursor on the disk moves when the tracker has taken
 * the batch.
 */
final class TrackerLoop implements Runnable {
  private final TrackerKind kind;
  private final Tracker tracker;
  private final RunFeed feed;
  private final Path file;
  private final Path problemFile;
  private final TrackingClock clock;
  private final Consumer<String> say;
  private volatile TrackerStatus status;
  private TrackerCursor cursor = TrackerCursor.START;
  private boolean open;

  /**
   * A loop that was not started yet.
   *
   * @param file of the cursor
   * @param problemFile exists while the tracker fails
   * @param say takes a sentence when the tracker fails, and when it works again
   */
  TrackerLoop(
      TrackerKind kind,
      Tracker tracker,
      RunFeed feed,
      Path file,
      Path problemFile,
      TrackingClock clock,
      Consumer<String> say) {
    this.kind = kind;
    this.tracker = tracker;
    this.feed = feed;
    this.file = file;
    this.problemFile = problemFile;
    this.clock = clock;
    this.say = say;
    this.status = new TrackerStatus(kind, -1, "", false, "");
  }

  /** Returns the progress of the tracker. */
  TrackerStatus status() {
    return status;
  }

  @Override
  public void run() {
    Optional<Batch> held = Optional.empty();
    int failures = 0;
    boolean more = true;
    while (more) {
      try {
        boolean last = clock.ending(); // Before reading: what is read after it is all there is.
        cursor = TrackerCursor.read(file);
        Batch batch = held.isPresent() ? held.get() : feed.next(cursor, last);
        held = Optional.of(batch);
        boolean nothing = batch.isEmpty() && batch.next().equals(cursor);
        if (!nothing) {
          take(batch);
        }
        held = Optional.empty();
        failures = worked(failures, nothing && last);
        more = nothing ? !last && clock.awaitMore() : clock.isOpen();
      } catch (IOException | RuntimeException failure) { // Nobody else would hear of a defect.
        failures++;
        failed(failure, failures);
        more = clock.pause(pause(failure, failures));
      } catch (InterruptedException stop) {
        String before = status.problem();
        status = unfinished(before.isEmpty() ? "the time was over before it answered" : before);
        more = false;
      }
    }
    closeTracker();
  }

  private void take(Batch batch) throws IOException, InterruptedException {
    if (batch.isEmpty()) {
      batch.next().write(file);
      return;
    }
    if (!open) {
      cursor = tracker.open(cursor);
      cursor.write(file);
      open = true;
    }
    cursor = tracker.send(batch.into(cursor));
    cursor.write(file);
  }

  private int worked(int failures, boolean complete) throws IOException {
    Files.deleteIfExists(problemFile); // Also of a process before this one.
    if (failures > 0) {
      say.accept("%s works again".formatted(kind.label()));
    }
    status = new TrackerStatus(kind, cursor.step(), cursor.remote(), complete, "");
    return 0;
  }

  private void failed(Exception failure, int failures) {
    String problem =
        failure instanceof IOException ? String.valueOf(failure.getMessage()) : failure.toString();
    status = unfinished(problem);
    if (failures == 1) {
      say.accept("%s is behind at step %d: %s".formatted(kind.label(), cursor.step(), problem));
    }
    closeTracker(); // What it has taken of the batch is not known.
    try {
      new TrackerProblem(cursor.step(), problem).write(problemFile);
    } catch (IOException unwritten) {
      say.accept("%s cannot be written: %s".formatted(problemFile, unwritten.getMessage()));
    }
  }

  private TrackerStatus unfinished(String problem) {
    return new TrackerStatus(kind, cursor.step(), cursor.remote(), false, problem);
  }

  private Duration pause(Exception failure, int failures) {
    long millis = clock.pauses().pauseMillis(failures, ThreadLocalRandom.current().nextDouble());
    Duration asked =
        failure instanceof ServerRefusedException refused ? refused.pause() : Duration.ZERO;
    return asked.toMillis() > millis ? asked : Duration.ofMillis(millis);
  }

  private void closeTracker() {
    open = false;
    try {
      tracker.close();
    } catch (IOException unclosed) {
      say.accept("%s: %s".formatted(kind.label(), unclosed.getMessage()));
    }
  }
}
