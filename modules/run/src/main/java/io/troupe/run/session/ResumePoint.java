package io.troupe.run.session;

import io.troupe.core.run.RunLimits;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.CheckpointListing;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.JournalSuffix;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowLines;
import io.troupe.telemetry.RowQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The state from which a run folder can continue.
 *
 * @param checkpoint the newest whole one; none if the run died before its first
 * @param again whether a process has worked on the run before
 * @param lastFence greatest fencing number in the journal
 * @param stepsLost steps trained after the checkpoint, which the process took with it
 * @param runEnded whether the journal ends with the end of the run
 * @param notes faults that were found on the way
 */
public record ResumePoint(
    Optional<TrainerTasks.Resume> checkpoint,
    boolean again,
    long lastFence,
    long stepsLost,
    boolean runEnded,
    List<String> notes) {
  public ResumePoint {
    notes = List.copyOf(notes);
  }

  /** Returns the start of a new run. */
  public static ResumePoint none() {
    return new ResumePoint(Optional.empty(), false, 0, 0, false, List.of());
  }

  /** A checkpoint's state and the history after it. */
  private record Found(StateSnapshot snapshot, JournalSuffix later) {}

  /**
   * Looks for the newest checkpoint whose files are all as they were written, and reads of the
   * journal what came after it. Only for who holds the journal's lock: what a dead process left
   * half-written is removed.
   *
   * @throws io.troupe.store.file.FormatException if the checkpoint or the journal is of another
   *     version
   */
  static ResumePoint find(RunFolder folder) throws IOException {
    List<Found> found = new ArrayList<>();
    CheckpointListing listing =
        Checkpoints.open(folder.checkpoints())
            .verify(checkpoint -> checkProblem(folder, checkpoint, found));
    List<String> notes = new ArrayList<>();
    for (CheckpointListing.Broken broken : listing.broken()) {
      notes.add(
          "checkpoint step%d cannot be used (%s); it is left alone"
              .formatted(broken.step(), broken.reason()));
    }
    Optional<Checkpoint> newest = listing.newest();
    if (newest.isEmpty()) {
      JournalSuffix all = JournalSuffix.whole(folder.journal());
      return new ResumePoint(Optional.empty(), true, all.lastFence(), 0, all.over(), notes);
    }
    Found point = found.getLast();
    if (point.later().controls().paused()) {
      notes.add("admission is paused, as an operator left it; resume it to continue");
    }
    return new ResumePoint(
        Optional.of(
            new TrainerTasks.Resume(
                newest.get().directory(),
                point.snapshot().state().controls(point.later().controls()),
                carriedRows(newest.get(), notes))),
        true,
        point.later().lastFence(),
        Math.max(0, point.later().lastStep() - newest.get().step()),
        point.later().over(),
        notes);
  }

  /**
   * Refuses limits that choose prompts by another rule than the checkpoint's run.
   *
   * @throws IOException naming the key and what to do
   */
  void checkChoice(RunLimits limits) throws IOException {
    Optional<String> objection =
        checkpoint.flatMap(from -> limits.prompts().sampling().objectionTo(from.state().cursor()));
    if (objection.isPresent()) {
      throw new IOException(objection.get());
    }
  }

  /**
   * Cuts {@code metrics.jsonl} after the checkpoint's step, and finds the rows that the checkpoint
   * lacks; {@link RowQueue} has the rule.
   */
  ResumePoint cutMetrics(RunFolder folder) throws IOException {
    long step = checkpoint.map(from -> from.state().version().number()).orElse(-1L);
    long written = JsonLinesFile.cut(folder.metrics(), "step", step).orElse(-1);
    return new ResumePoint(
        checkpoint.map(
            from ->
                new TrainerTasks.Resume(
                    from.checkpoint(), from.state(), from.rows().missing(written, step))),
        again,
        lastFence,
        stepsLost,
        runEnded,
        notes);
  }

  /** The rows in a checkpoint; one of an older version has none. */
  private static RowQueue carriedRows(Checkpoint checkpoint, List<String> notes)
      throws IOException {
    Path file = checkpoint.directory().resolve(TrainerTasks.ROWS_FILE);
    if (!Files.exists(file)) {
      return RowQueue.EMPTY;
    }
    try {
      return RowLines.decode(Files.readAllLines(file));
    } catch (IllegalArgumentException other) {
      notes.add(
          "the rows in %s cannot be read by this version and are left out of metrics.jsonl: %s"
              .formatted(file, other.getMessage()));
      return RowQueue.EMPTY;
    }
  }

  private static Optional<String> checkProblem(
      RunFolder folder, Checkpoint checkpoint, List<Found> found) throws IOException {
    Path file = checkpoint.directory().resolve(TrainerTasks.STATE_FILE);
    Optional<StateSnapshot> snapshot = StateSnapshot.read(file);
    if (snapshot.isEmpty()) {
      return Optional.of(TrainerTasks.STATE_FILE + " is missing");
    }
    try {
      found.add(new Found(snapshot.get(), JournalSuffix.since(folder.journal(), snapshot.get())));
      return Optional.empty();
    } catch (JournalException.Elsewhere unknown) {
      // A process that had lost the run wrote it, or the journal was cut before it.
      return Optional.of(String.valueOf(unknown.getMessage()));
    }
  }
}
