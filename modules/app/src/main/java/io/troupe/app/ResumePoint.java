package io.troupe.app;

import io.troupe.core.run.Event;
import io.troupe.runtime.TrainerWorkshop;
import io.troupe.store.Checkpoint;
import io.troupe.store.CheckpointListing;
import io.troupe.store.Checkpoints;
import io.troupe.store.JournalReader;
import io.troupe.store.RunFolder;
import io.troupe.store.RunJson;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a run folder can go on from.
 *
 * @param checkpoint the newest whole one; none if the run died before its first
 * @param again whether a process has worked on the run before
 * @param lastFence greatest fencing number in the journal
 * @param stepsLost steps trained after the checkpoint, which the process took with it
 * @param over whether the journal ends with the end of the run
 * @param notes what was found broken on the way
 */
record ResumePoint(
    Optional<TrainerWorkshop.Resume> checkpoint,
    boolean again,
    long lastFence,
    long stepsLost,
    boolean over,
    List<String> notes) {
  ResumePoint {
    notes = List.copyOf(notes);
  }

  /** Where a new run starts. */
  static ResumePoint none() {
    return new ResumePoint(Optional.empty(), false, 0, 0, false, List.of());
  }

  /**
   * Looks for the newest checkpoint whose files are all as they were written. Only for who holds
   * the journal's lock: what a dead process left half-written is removed.
   */
  static ResumePoint find(RunFolder folder) throws IOException {
    CheckpointListing listing = Checkpoints.open(folder.checkpoints()).verify();
    List<String> notes = new ArrayList<>();
    for (CheckpointListing.Broken broken : listing.broken()) {
      notes.add(
          "checkpoint step%d is not whole (%s); it is left alone"
              .formatted(broken.step(), broken.reason()));
    }
    Optional<Checkpoint> newest = listing.newest();
    History history = History.read(folder);
    if (newest.isEmpty()) {
      return new ResumePoint(Optional.empty(), true, history.lastFence(), 0, history.over(), notes);
    }
    var state =
        RunJson.state(
            Files.readAllBytes(newest.get().directory().resolve(TrainerWorkshop.STATE_FILE)));
    long lost = Math.max(0, history.lastStep() - newest.get().step());
    return new ResumePoint(
        Optional.of(new TrainerWorkshop.Resume(newest.get().directory(), state)),
        true,
        history.lastFence(),
        lost,
        history.over(),
        notes);
  }

  /** What the whole journal tells, beyond the checkpoint. */
  private record History(long lastFence, long lastStep, boolean over) {
    static History read(RunFolder folder) throws IOException {
      long fence = 0;
      long step = 0;
      boolean over = false;
      try (JournalReader reader = JournalReader.open(folder.journal())) {
        for (var next = reader.next(); next.isPresent(); next = reader.next()) {
          for (Event event : RunJson.events(next.get().payload())) {
            over =
                event instanceof Event.RunEnded || (over && !(event instanceof Event.RunResumed));
            if (event instanceof Event.LeaseGranted(var lease, var _, var _, var _)) {
              fence = Math.max(fence, lease.fence());
            } else if (event instanceof Event.StepTrained(long trained)) {
              step = trained;
            } else if (event instanceof Event.RunResumed(var state)) {
              step = state.version().number();
            }
          }
        }
      }
      return new History(fence, step, over);
    }
  }
}
